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

	kArrow
	kMethod
	kField
	kObject
	kPair
	kBlock
	kLexical
	kVar
	kDeclarator
	kForIn
	kCatch
	kExport
	kExportClause
	kExportSpecifier
	kNamespaceExport
	kImportClause
	kNamedImports
	kImportSpecifier
	kNamespaceImport
	kImportRequire
	kHeritage
	kExtends
	kImplements
	kInterface
	kEnum
	kNamespace
	kNew
	kThis
	kSuper
	kMember
	kComputed
	kPatternName
	kPairPattern
	kDefaultPattern
	kOptional
	kSignature
	kMapped
	kInfer
	kIndexSignature
	kPredicate
	kAsExpression
	kNonNull
	kUnion
	kTag
	kClosingTag
	kImportWord
	kAwait
	kUnder
	kDecorator
	kAccess
	kAnnotation
	kConditional
	kTypeParameter
	kDefaultWord
	kParameters
	kFunctionType

	kItem
	kSelf
	kPathWord
	kTurbofish
	kMacro
	kTokens
	kImpl
	kTrait
	kMod
	kLet
	kArm
	kMatchPattern
	kTupleStruct
	kStructPattern
	kFieldPattern
	kCaptured
	kStructure
	kReference
	kUse
	kUseList
	kScopedList
	kUseAs
	kGlob
	kExternCrate
	kAssociated
	kStruct
	kBounds
	kFieldDeclaration
	kDynamic
	kBinds

	kPackage
	kInvocation
	kMethodReference
	kFieldAccess
	kScoped
	kEnumConstant
	kInferred
	kResource
	kInstanceof
	kTypePattern
	kLabel
	kJump
	kArray
	kRecord
	kAnnotationUse
	kValuePair
	kSpread
	kStatic
	kCast
	kSupers
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
	case javascriptID, typescriptID, tsxID:
		return scriptCodes()
	case rustID:
		return rustCodes()
	case javaID:
		return javaCodes()
	}
	return nil
}

// scriptCodes are the kinds of JavaScript's and TypeScript's grammars.
func scriptCodes() map[string]code {
	return map[string]code{
		"comment": kComment, "html_comment": kComment, "identifier": kIdentifier, "type_identifier": kIdentifier,
		"shorthand_property_identifier": kIdentifier, "shorthand_property_identifier_pattern": kPatternName,
		"member_expression": kMember, "nested_type_identifier": kMember, "nested_identifier": kMember,
		"call_expression": kCall, "new_expression": kNew, "this": kThis, "super": kSuper, "import": kImportWord,
		"function_declaration": kFunction, "generator_function_declaration": kFunction, "function_signature": kFunction,
		"function_expression": kLambda, "function": kLambda, "generator_function": kLambda, "arrow_function": kArrow,
		"method_definition": kMethod, "method_signature": kMethod, "abstract_method_signature": kMethod,
		"call_signature": kMethod, "construct_signature": kMethod, "function_type": kFunctionType, "constructor_type": kFunctionType,
		"class_declaration": kClass, "abstract_class_declaration": kClass, "class": kClass,
		"public_field_definition": kField, "field_definition": kField, "property_signature": kField,
		"object": kObject, "pair": kPair, "statement_block": kBlock, "switch_body": kBlock, "for_statement": kBlock,
		"lexical_declaration": kLexical, "variable_declaration": kVar, "variable_declarator": kDeclarator,
		"for_in_statement": kForIn, "catch_clause": kCatch, "export_statement": kExport, "export_clause": kExportClause,
		"export_specifier": kExportSpecifier, "namespace_export": kNamespaceExport, "import_statement": kImport,
		"import_clause": kImportClause, "named_imports": kNamedImports, "import_specifier": kImportSpecifier,
		"namespace_import": kNamespaceImport, "import_require_clause": kImportRequire, "class_heritage": kHeritage,
		"extends_clause": kExtends, "implements_clause": kImplements, "extends_type_clause": kImplements,
		"interface_declaration": kInterface, "type_alias_declaration": kTypeAlias, "enum_declaration": kEnum,
		"internal_module": kNamespace, "module": kNamespace, "computed_property_name": kComputed,
		"pair_pattern": kPairPattern, "assignment_pattern": kDefaultPattern, "object_assignment_pattern": kDefaultPattern,
		"array_pattern": kPattern, "object_pattern": kPattern, "rest_pattern": kPattern, "required_parameter": kParameter,
		"optional_parameter": kParameter, "mapped_type_clause": kMapped, "infer_type": kInfer, "index_signature": kIndexSignature,
		"type_predicate": kPredicate, "as_expression": kAsExpression, "satisfies_expression": kOther, "non_null_expression": kNonNull,
		"union_type": kUnion, "jsx_opening_element": kTag, "jsx_self_closing_element": kTag, "jsx_closing_element": kClosingTag,
		"string": kString, "await_expression": kAwait, "assignment_expression": kAssign, "generic_type": kGenericType,
		"type_annotation": kAnnotation, "parenthesized_type": kParenthesized, "parenthesized_expression": kParenthesized,
		"type_parameters": kTypeParameters, "type_parameter": kTypeParameter, "accessibility_modifier": kAccess,
		"predefined_type": kNone, "literal_type": kNone, "null": kNone, "undefined": kNone, "conditional_type": kConditional,
		"default": kDefaultWord, "decorator": kDecorator, "formal_parameters": kParameters, "override_modifier": kAccess,
	}
}

// rustCodes are the kinds of Rust's grammar.
func rustCodes() map[string]code {
	return map[string]code{
		"line_comment": kComment, "block_comment": kComment, "identifier": kIdentifier, "type_identifier": kIdentifier,
		"shorthand_field_identifier": kPatternName, "self": kSelf, "crate": kPathWord, "super": kPathWord, "metavariable": kNone,
		"primitive_type": kNone, "lifetime": kNone, "label": kNone, "macro_definition": kNone, "string_literal": kNone,
		"raw_string_literal": kNone, "scoped_identifier": kScoped, "scoped_type_identifier": kScoped, "field_expression": kAttribute,
		"call_expression": kCall, "generic_function": kTurbofish, "generic_type": kGenericType, "generic_type_with_turbofish": kGenericType,
		"macro_invocation": kMacro, "token_tree": kTokens, "attribute_item": kDecorator, "inner_attribute_item": kDecorator,
		"function_item": kFunction, "function_signature_item": kFunction, "closure_expression": kLambda, "struct_item": kStruct,
		"union_item": kStruct, "enum_item": kItem, "type_item": kItem, "const_item": kItem, "static_item": kItem, "associated_type": kItem,
		"enum_variant": kEnumConstant, "impl_item": kImpl, "trait_item": kTrait, "mod_item": kMod, "type_parameters": kTypeParameters,
		"constrained_type_parameter": kTypeParameter, "optional_type_parameter": kTypeParameter, "const_parameter": kTypeParameter,
		"parameter": kParameter, "let_declaration": kLet, "let_condition": kLet, "match_arm": kArm, "last_match_arm": kArm,
		"match_pattern": kMatchPattern, "tuple_struct_pattern": kTupleStruct, "struct_pattern": kStructPattern,
		"field_pattern": kFieldPattern, "captured_pattern": kCaptured, "ref_pattern": kPattern, "mut_pattern": kPattern,
		"reference_pattern": kPattern, "tuple_pattern": kPattern, "slice_pattern": kPattern, "or_pattern": kPattern,
		"struct_expression": kStructure, "reference_expression": kReference, "reference_type": kReference, "block": kBlock,
		"if_expression": kBinds, "while_expression": kBinds, "for_expression": kFor, "use_declaration": kUse, "use_list": kUseList,
		"scoped_use_list": kScopedList, "use_as_clause": kUseAs, "use_wildcard": kGlob, "extern_crate_declaration": kExternCrate,
		"trait_bounds": kBounds, "field_declaration": kFieldDeclaration, "dynamic_type": kDynamic, "abstract_type": kDynamic,
		"visibility_modifier": kAccess, "type_binding": kArgument, "try_expression": kAwait, "parenthesized_expression": kParenthesized,
	}
}

// javaCodes are the kinds of Java's grammar.
func javaCodes() map[string]code {
	return map[string]code{
		"line_comment": kComment, "block_comment": kComment, "identifier": kIdentifier, "type_identifier": kIdentifier,
		"scoped_identifier": kScoped, "scoped_type_identifier": kScoped, "field_access": kFieldAccess, "method_invocation": kInvocation,
		"object_creation_expression": kNew, "method_reference": kMethodReference, "this": kThis, "super": kSuper,
		"package_declaration": kPackage, "import_declaration": kImport, "asterisk": kStar, "static": kStatic,
		"class_declaration": kClass, "interface_declaration": kClass, "enum_declaration": kClass, "record_declaration": kClass,
		"annotation_type_declaration": kClass, "class_body": kObject, "superclass": kSupers, "super_interfaces": kSupers,
		"extends_interfaces": kSupers, "type_list": kUseList, "field_declaration": kField, "constant_declaration": kField,
		"variable_declarator": kDeclarator, "local_variable_declaration": kLexical, "method_declaration": kMethod,
		"constructor_declaration": kMethod, "compact_constructor_declaration": kMethod, "annotation_type_element_declaration": kMethod,
		"formal_parameters": kParameters, "formal_parameter": kParameter, "catch_formal_parameter": kParameter,
		"spread_parameter": kSpread, "type_parameters": kTypeParameters, "type_parameter": kTypeParameter, "lambda_expression": kLambda,
		"inferred_parameters": kInferred, "enum_constant": kEnumConstant, "block": kBlock, "constructor_body": kBlock, "switch_block": kBlock,
		"switch_rule": kBlock, "for_statement": kBlock, "enhanced_for_statement": kForIn, "try_with_resources_statement": kBlock,
		"catch_clause": kBlock, "catch_type": kReference, "resource": kResource, "instanceof_expression": kInstanceof,
		"type_pattern": kTypePattern, "record_pattern_component": kTypePattern, "labeled_statement": kLabel, "break_statement": kJump,
		"continue_statement": kJump, "generic_type": kGenericType, "array_type": kArray, "element_value_pair": kValuePair,
		"annotated_type": kReference, "cast_expression": kCast, "parenthesized_expression": kParenthesized, "string_literal": kNone,
		"integral_type": kNone, "floating_point_type": kNone, "boolean_type": kNone, "void_type": kNone, "module_declaration": kNone,
	}
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
	fSource
	fKind
	fPattern
	fParameter
	fConstructor
	fKey
	fDeclaration
	fProperty
	fPath
	fTrait
	fIndex
	fList
	fArgument
	fBounds
	fMacro
	fField
	fAlternative
	fCondition
	fScope
	fDimensions
	fResources
	fElement
	fSuperclass
	fInterfaces
)

func fieldCodes() map[string]fieldCode {
	return map[string]fieldCode{
		"name": fName, "body": fBody, "type": fType, "value": fValue, "left": fLeft, "right": fRight, "object": fObject,
		"attribute": fAttribute, "function": fFunction, "arguments": fArguments, "parameters": fParameters,
		"return_type": fReturn, "type_parameters": fTypeParameters, "superclasses": fSupers, "definition": fDefinition,
		"alias": fAlias, "module_name": fModule, "operator": fOperator,
		"source": fSource, "kind": fKind, "pattern": fPattern, "parameter": fParameter, "constructor": fConstructor, "key": fKey,
		"declaration": fDeclaration, "property": fProperty, "path": fPath, "trait": fTrait, "module": fObject, "index": fIndex,
		"list": fList, "argument": fArgument, "bounds": fBounds, "macro": fMacro, "field": fField, "alternative": fAlternative,
		"condition": fCondition, "scope": fScope, "dimensions": fDimensions, "resources": fResources, "element": fElement,
		"superclass": fSuperclass, "interfaces": fInterfaces,
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
