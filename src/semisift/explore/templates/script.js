{% from "marks.html" import shapes %}
"use strict";
(() => {
  const SHAPES = {{ shapes|tojson }};

  {
    {% include "theme.js" %}
  }

  {% for part in ["words", "server", "session", "outbox", "header", "now", "queue", "ranking", "feature", "points", "map", "lasso", "keys"] %}
  {% include "explore/" ~ part ~ ".js" %}

  {% endfor %}
  follow();
})();
