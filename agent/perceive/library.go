package perceive

import (
	"strings"
	"sync"
)

// libraryMember says whether a language's own types have a member of a name: then one definition in the tree is no
// reason to believe that it is meant.
func libraryMember(f family, name string) bool {
	if len(name) < 3 || strings.HasPrefix(name, "__") {
		return true
	}
	return libraryNames()[f][name]
}

// libraryNames are the members of the types that every program of a language has at hand.
var libraryNames = sync.OnceValue(func() (out [families]map[string]bool) {
	for f, names := range [families]string{
		goFamily: "Add Close Done Err Error Errorf Exit Fatal Fatalf Flush Format Get Has Len Less Load Lock Log Logf Name Next Parse Print Printf " +
			"Println Put Range Read ReadAll ReadByte ReadFile ReadString Reset Run Scan Seek Send Set Size Sprintf Start Stop Store String Swap Sync " +
			"Unlock RLock RUnlock Unwrap Value Wait Write WriteByte WriteString WriteTo Mode IsDir Info Stat Path Join Open Create Remove Text " +
			"Bytes Sum Helper Skip Cleanup Context Deadline Before After Equal Sub Unix Now Sleep Elem Kind Type Field Method Call Do Keys Values",
		pythonFamily: "acquire add append appendleft assertEqual assertTrue capitalize casefold center clear close commit connect copy count cursor debug decode " +
			"difference discard encode endswith error exception exists execute exit expandtabs extend extendleft fetchall fetchone find findall " +
			"flush format format_map fullmatch get getvalue group groups handle hexdigest index info insert intersection isalnum isalpha isdigit " +
			"isdisjoint isfile isidentifier islower isnumeric isoformat issubset issuperset isupper items iterdir join joinpath keys kill ljust load loads log lower " +
			"lstrip main map match mkdir most_common move name next open parse parse_args add_argument partition pop popitem popleft print put read readline readlines " +
			"receive recv release remove removeprefix removesuffix rename replace resolve result reverse rfind rindex rjust rpartition rsplit " +
			"rstrip run save search seek send set setdefault setUp shutdown sort span split splitlines start startswith stat stop strftime strip strptime sub " +
			"submit swapcase tearDown tell terminate timestamp title tobytes today tolist total_seconds translate truncate union unlink update upper " +
			"values wait warn warning with_suffix write write_text read_text writelines zfill is_file is_dir as_posix glob rglob communicate poll cancel done year date time",
		scriptFamily: "add addEventListener all any appendChild apply assign at bind blur call catch charAt charCodeAt clear click clone close closest codePointAt " +
			"concat copyWithin create createElement debug defineProperty delete destroy dispatchEvent emit end endsWith entries error every exec fetch fill " +
			"filter finally find findIndex findLast flat flatMap focus forEach freeze from get getAttribute getElementById getTime has hasOwnProperty " +
			"includes indexOf info insert isArray join json keys lastIndexOf listen localeCompare log map match matchAll next normalize now " +
			"on once open padEnd padStart parse pause pipe play pop preventDefault push querySelector querySelectorAll race raw read reduce reduceRight " +
			"reject remove removeChild removeEventListener repeat replace replaceAll request reset resolve resume return reverse round run save " +
			"search send set setAttribute setItem getItem shift size slice some sort splice split start startsWith stop stringify substr " +
			"substring subscribe test text then throw toFixed toISOString toJSON toLocaleString toLowerCase toString toUpperCase transform trim trimEnd trimStart type " +
			"unshift unsubscribe update use validate value valueOf values wait warn write describe expect toBe toEqual",
		rustFamily: "abs all and and_then any append as_bytes as_deref as_mut as_path as_ref as_slice as_str borrow borrow_mut build bytes ceil chain chars checked_add " +
			"clear clone cloned cmp collect contains contains_key copied count default deref drain drop entry enumerate eq err expect extend filter " +
			"filter_map find first flat_map flatten floor flush fmt fold for_each format from get get_mut get_or_insert hash insert into into_iter " +
			"into_inner is_empty is_err is_none is_ok is_some iter iter_mut join keys last len lines lock map map_err max min name new next nth ok " +
			"ok_or ok_or_else open or_default or_else or_insert parse partial_cmp peek poll pop position pow print push push_str read read_to_string recv " +
			"remove replace reserve resize retain rev run send set size skip sort sort_by spawn split sqrt start starts_with step_by " +
			"strip_prefix sum swap take then to_lowercase to_owned to_string to_uppercase to_vec trim truncate try_from try_into unwrap unwrap_or " +
			"unwrap_or_default unwrap_or_else update values wait windows with_capacity wrapping_add write write_all write_str zip path display exists status arg args output",
		javaFamily: "accept add addAll anyMatch append apply asList build charAt clear close collect compare compareTo compute computeIfAbsent contains containsKey " +
			"containsValue copyOf count create defaultValue delete endsWith entrySet equals execute exists filter find findFirst flush forEach format " +
			"get getBytes getClass getId getKey getMessage getName getOrDefault getPath getSize getType getValue group hasNext hashCode head indexOf " +
			"init insert intValue invoke isEmpty isPresent iterator join keySet lastIndexOf length limit list load lock log main map matches " +
			"merge name next notify of offer open orElse orElseThrow parse peek poll pop print printf println push put putAll putIfAbsent read readLine reduce " +
			"remove removeAll removeIf replace replaceAll reset run save send set size skip sort sorted split start startsWith stop stream " +
			"submit subList substring sum take test toArray toList toLowerCase toString toUpperCase trim unlock update valueOf values wait warn write ordinal info debug error " +
			"booleanValue byteValue doubleValue floatValue longValue shortValue parseInt parseLong parseDouble parseBoolean",
	} {
		out[f] = map[string]bool{}
		for _, n := range strings.Fields(names) {
			out[f][n] = true
		}
	}
	return out
})
