(function_definition name: (_) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @variable))

(command name: (command_name (word) @_loads) (#any-of? @_loads "." "source")) @import
(command name: (command_name (word) @call))
(comment) @comment
