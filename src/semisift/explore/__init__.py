"""The explorer: a page of this machine on which a person labels rows and the ranking follows.

`session` holds the table, the labels and what was found from them; a thread of its own ranks.
`server` answers the page; `labels_file` keeps what was answered.
"""
