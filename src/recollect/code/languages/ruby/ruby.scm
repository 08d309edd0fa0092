(method name: (_) @name parameters: (_)? @parameters) @function
(singleton_method name: (_) @name parameters: (_)? @parameters) @function
[(class name: (_) @name) (module name: (_) @name)] @class
(assignment left: (constant) @name) @variable

(superclass (_) @base)
(call !receiver method: (identifier) @_mixes arguments: (argument_list (constant) @base)
  (#any-of? @_mixes "include" "extend" "prepend"))
(call !receiver method: (identifier) @_mixes arguments: (argument_list (scope_resolution) @base)
  (#any-of? @_mixes "include" "extend" "prepend"))

(assignment left: [(identifier) (instance_variable)] @given right: (call) @value)

(call !receiver method: (identifier) @_loads arguments: (argument_list . (string) .)
  (#any-of? @_loads "require" "require_relative" "load" "autoload")) @import
(call !receiver method: [(identifier) (constant)] @call)
(call receiver: (_) @receiver method: (_) @call)
(body_statement (identifier) @call)
(super) @call
(comment) @comment
