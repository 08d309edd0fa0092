"""The module map: which parts a codebase has, where they are, and how they are built, tested and linted.

- `scan_input` collects the files, their texts and the data of the code graph; `scan` makes a map from them.
- `grouping` decides which files belong together, and `descriptions` finds a sentence about each group.
- `tools` finds the commands of each part: `commands` reads those of CI and task files, `ecosystems` those of manifests.
- `module_map` is the map as a value; `merge` updates it from scans, use, names of a model and corrections.
- `task` finds the modules that a task is about.
- `project_map.ProjectMap` is the part that everybody else uses: it stores the map of one project.

A scan is deterministic and uses no model. A correction by a person survives every later scan.
"""
