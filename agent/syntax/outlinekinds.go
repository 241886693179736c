package syntax

// code is a kind of node as an outline knows it, so that no strings are compared on the way through a tree. One code
// may stand for kinds of several grammars. The zero code is a kind of no interest.
type code uint8

const (
	kOther code = iota
	kComment
	kIdentifier
	kAttribute
	kCall
	kArgument
	kFunction
	kLambda
	kClass
	kDecorated
	kAssign
	kAugmented
	kWalrus
	kFor
	kForClause
	kComprehension
	kAsTarget
	kGlobal
	kNonlocal
	kImport
	kFrom
	kType
	kGenericType
	kTypeParameters
	kTypeAlias
	kCase
	kClassPattern
	kKeywordPattern
	kDotted
	kSplat
	kAsPattern
	kPattern
	kString
	kParameter
	kDefaultParameter
	kDelete
	kAlias
	kStar
	kBinary
	kNone
	kSubscript
	kParenthesized
)

// pythonCodes are the kinds of Python's grammar.
func pythonCodes() map[string]code {
	return map[string]code{
		"comment": kComment, "identifier": kIdentifier, "attribute": kAttribute, "call": kCall, "keyword_argument": kArgument,
		"function_definition": kFunction, "lambda": kLambda, "class_definition": kClass, "decorated_definition": kDecorated,
		"assignment": kAssign, "augmented_assignment": kAugmented, "named_expression": kWalrus, "for_statement": kFor,
		"for_in_clause": kForClause, "list_comprehension": kComprehension, "set_comprehension": kComprehension,
		"dictionary_comprehension": kComprehension, "generator_expression": kComprehension, "as_pattern_target": kAsTarget,
		"global_statement": kGlobal, "nonlocal_statement": kNonlocal, "import_statement": kImport, "import_from_statement": kFrom,
		"future_import_statement": kNone, "type": kType, "generic_type": kGenericType, "type_parameter": kTypeParameters,
		"type_alias_statement": kTypeAlias, "case_pattern": kCase, "class_pattern": kClassPattern, "keyword_pattern": kKeywordPattern,
		"dotted_name": kDotted, "splat_pattern": kSplat, "as_pattern": kAsPattern, "pattern_list": kPattern, "tuple_pattern": kPattern,
		"list_pattern": kPattern, "list_splat_pattern": kPattern, "dictionary_splat_pattern": kPattern, "string": kString,
		"typed_parameter": kParameter, "default_parameter": kDefaultParameter, "typed_default_parameter": kDefaultParameter,
		"delete_statement": kDelete, "aliased_import": kAlias, "wildcard_import": kStar, "binary_operator": kBinary, "none": kNone,
		"subscript": kSubscript, "parenthesized_expression": kParenthesized,
	}
}

func codesOf(language int) map[string]code {
	switch language {
	case pythonID:
		return pythonCodes()
	}
	return nil
}

// fieldCode is a field of a node, likewise.
type fieldCode uint8

const (
	fOther fieldCode = iota
	fName
	fBody
	fType
	fValue
	fLeft
	fRight
	fObject
	fAttribute
	fFunction
	fArguments
	fParameters
	fReturn
	fTypeParameters
	fSupers
	fDefinition
	fAlias
	fModule
	fOperator
)

func fieldCodes() map[string]fieldCode {
	return map[string]fieldCode{
		"name": fName, "body": fBody, "type": fType, "value": fValue, "left": fLeft, "right": fRight, "object": fObject,
		"attribute": fAttribute, "function": fFunction, "arguments": fArguments, "parameters": fParameters,
		"return_type": fReturn, "type_parameters": fTypeParameters, "superclasses": fSupers, "definition": fDefinition,
		"alias": fAlias, "module_name": fModule, "operator": fOperator,
	}
}

// coded gives the codes of a list of names by their numbers.
func coded[C any](names []string, codes map[string]C) []C {
	out := make([]C, len(names))
	for i, name := range names {
		out[i] = codes[name]
	}
	return out
}
