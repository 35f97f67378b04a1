"""Relations that must hold on generated tables; CONTRIBUTING.md says how to run them longer."""
