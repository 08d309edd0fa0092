; All that is read of a Python file. Which definition a node stands in is told by its position.

(function_definition) @function
(class_definition) @class
(decorated_definition) @decorated

; Whether it is the first statement is looked up later: a query that knows takes a third more time to load.
(expression_statement (string) @doc)

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import

(call function: (_) @callee)
(attribute) @attribute

; Bare names where one stands for a thing that is handed on, compared or named as a type.
(argument_list (identifier) @name)
(keyword_argument value: (identifier) @name)
(assignment right: (identifier) @name)
(return_statement (identifier) @name)
(raise_statement (identifier) @name)
(except_clause (identifier) @name)
(except_clause (tuple (identifier) @name))
(as_pattern . (identifier) @name)
(type (identifier) @name)
(generic_type . (identifier) @name)
(type (binary_operator (identifier) @name))
(subscript value: (identifier) @name)
(subscript subscript: (identifier) @name)
(comparison_operator (identifier) @name)
(boolean_operator (identifier) @name)
(conditional_expression (identifier) @name)
(if_statement condition: (identifier) @name)
(list (identifier) @name)
(tuple (identifier) @name)
(set (identifier) @name)
(pair value: (identifier) @name)
(expression_list (identifier) @name)
(for_statement right: (identifier) @name)
(for_in_clause right: (identifier) @name)
(default_parameter value: (identifier) @name)

(assignment) @assignment
(augmented_assignment left: (identifier) @augmented (#eq? @augmented "__all__")) @addition
(named_expression) @walrus
(for_statement) @loop
(for_in_clause) @loop
(with_item (as_pattern) @with)
(with_statement "async" (with_clause (with_item (as_pattern) @with.async)))
(except_clause (as_pattern) @except)
(return_statement (_) @return)
(yield (_) @yield)
(case_clause) @case
