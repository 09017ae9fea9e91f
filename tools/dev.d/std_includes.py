"""Checks that what our C++ uses of the standard library is included, for tools/dev lint.

usage: std_includes.py < FILES

Which header brings another along differs between compilers and their versions, and a build in batches or with
precompiled headers hides what is missing. So the header of a name std::… must be included by the file itself, or by
one of our headers that it includes, directly or not. Prints each name that does not, once per file and
header, and each name that the table does not know. The exit status is 1 when it printed one.
"""

from __future__ import annotations

import re
import sys
from typing import Dict, Iterable, Iterator, Set

from include_graph import include_graph

# header: its names. A name of several headers may come from any of them.
table = """
algorithm: adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal
  equal_range fill fill_n find find_end find_first_of find_if find_if_not for_each for_each_n generate generate_n includes
  inplace_merge is_partitioned is_permutation is_sorted is_sorted_until iter_swap lexicographical_compare
  lexicographical_compare_three_way lower_bound make_heap max max_element merge min min_element minmax minmax_element
  mismatch move_backward next_permutation none_of nth_element partial_sort partition partition_copy partition_point
  pop_heap prev_permutation push_heap remove remove_copy remove_copy_if remove_if replace replace_copy replace_if reverse
  reverse_copy rotate rotate_copy sample search search_n set_difference set_intersection set_symmetric_difference
  set_union shift_left shift_right shuffle sort sort_heap stable_partition stable_sort swap_ranges transform unique
  unique_copy upper_bound ranges
any: any any_cast bad_any_cast make_any
array: array to_array get tuple_size tuple_size_v tuple_element tuple_element_t
atomic: atomic atomic_bool atomic_flag atomic_int atomic_ref atomic_signal_fence atomic_thread_fence atomic_uint64_t
  memory_order memory_order_acq_rel memory_order_acquire memory_order_consume memory_order_relaxed memory_order_release
  memory_order_seq_cst
barrier: barrier
bit: bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian has_single_bit popcount
  rotl rotr
bitset: bitset
cctype: isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper
cfenv: feclearexcept fetestexcept
charconv: chars_format errc from_chars from_chars_result to_chars to_chars_result
chrono: chrono chrono_literals
cinttypes: imaxabs imaxdiv strtoimax strtoumax
clocale: lconv localeconv setlocale
cmath: abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
  fmax fmin fmod fpclassify frexp hypot ilogb isfinite isgreater isinf isless isnan isnormal ldexp lerp lgamma llrint
  llround log log10 log1p log2 logb lrint lround modf nan nanf nearbyint nextafter nexttoward pow remainder remquo rint
  round scalbln scalbn signbit sin sinh sqrt tan tanh tgamma trunc
compare: common_comparison_category compare_three_way compare_three_way_result is_eq is_gt is_gteq is_lt is_lteq is_neq
  partial_ordering strong_order strong_ordering three_way_comparable three_way_comparable_with weak_ordering
complex: complex
concepts: assignable_from common_reference_with common_with constructible_from convertible_to copy_constructible copyable
  default_initializable derived_from destructible equality_comparable equality_comparable_with equivalence_relation
  floating_point integral invocable movable move_constructible predicate regular regular_invocable relation same_as
  semiregular signed_integral strict_weak_order swappable totally_ordered totally_ordered_with unsigned_integral
condition_variable: condition_variable condition_variable_any cv_status notify_all_at_thread_exit
coroutine: coroutine_handle suspend_always suspend_never
csetjmp: longjmp
csignal: raise sig_atomic_t signal
cstdarg: va_list
cstddef: byte max_align_t nullptr_t ptrdiff_t size_t to_integer
cstdint: int16_t int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t
  int_least64_t int_least8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t
  uint_fast64_t uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t
cstdio: FILE clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fpos_t fprintf fputc fputs fread freopen fscanf
  fseek fsetpos ftell fwrite getc getchar perror printf putc putchar puts remove rename rewind scanf setbuf setvbuf
  size_t snprintf sprintf sscanf tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
cstdlib: _Exit abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll bsearch calloc div exit free getenv labs
  ldiv llabs lldiv malloc mblen qsort quick_exit rand realloc size_t srand strtod strtof strtol strtold strtoll strtoul
  strtoull system
cstring: memchr memcmp memcpy memmove memset size_t strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat
  strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm
ctime: asctime clock clock_t ctime difftime gmtime localtime mktime size_t strftime time time_t timespec timespec_get tm
cwchar: size_t wcslen wint_t
deque: deque erase erase_if
exception: bad_exception current_exception exception exception_ptr get_terminate make_exception_ptr nested_exception
  rethrow_exception rethrow_if_nested set_terminate terminate throw_with_nested uncaught_exceptions
execution: execution
expected: expected unexpected
filesystem: filesystem
format: format format_to format_to_n formatter
fstream: basic_fstream filebuf fstream ifstream ofstream
functional: bad_function_call bind bind_front bit_and bit_or bit_xor cref divides equal_to function greater greater_equal
  hash identity invoke less less_equal logical_and logical_not logical_or mem_fn minus modulus multiplies negate
  not_equal_to not_fn placeholders plus ref reference_wrapper
future: async future future_errc future_error future_status launch packaged_task promise shared_future
initializer_list: initializer_list
iomanip: get_time put_time quoted resetiosflags setbase setfill setiosflags setprecision setw
ios: boolalpha dec defaultfloat fixed hex hexfloat ios ios_base left noskipws oct right scientific showbase skipws
  streamoff streampos streamsize uppercase
iosfwd: istream ostream ofstream ifstream stringstream istringstream ostringstream
iostream: cerr cin clog cout
istream: basic_istream iostream istream ws
iterator: advance back_insert_iterator back_inserter bidirectional_iterator contiguous_iterator default_sentinel
  default_sentinel_t distance forward_iterator front_inserter incrementable indirectly_readable input_iterator
  input_or_output_iterator insert_iterator inserter istream_iterator istreambuf_iterator iter_difference_t
  iter_reference_t iter_value_t iterator_traits make_move_iterator make_reverse_iterator move_iterator next
  ostream_iterator ostreambuf_iterator output_iterator prev random_access_iterator reverse_iterator sentinel_for
  weakly_incrementable
latch: latch
limits: numeric_limits
list: erase erase_if list
locale: isspace locale tolower toupper
map: erase_if map multimap
memory: addressof align allocate_shared allocator allocator_arg allocator_traits assume_aligned bad_weak_ptr
  const_pointer_cast construct_at default_delete destroy destroy_at destroy_n dynamic_pointer_cast
  enable_shared_from_this hash make_shared make_unique make_unique_for_overwrite owner_less pointer_traits
  reinterpret_pointer_cast shared_ptr static_pointer_cast to_address uninitialized_copy uninitialized_default_construct
  uninitialized_fill uninitialized_move unique_ptr uses_allocator weak_ptr
memory_resource: pmr
mutex: adopt_lock adopt_lock_t call_once defer_lock defer_lock_t lock lock_guard mutex once_flag recursive_mutex
  recursive_timed_mutex scoped_lock timed_mutex try_lock try_to_lock try_to_lock_t unique_lock
new: align_val_t bad_alloc bad_array_new_length destroying_delete get_new_handler hardware_constructive_interference_size
  hardware_destructive_interference_size launder new_handler nothrow nothrow_t set_new_handler
numbers: numbers
numeric: accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce
  transform_inclusive_scan transform_reduce
optional: bad_optional_access hash make_optional nullopt nullopt_t optional
ostream: basic_ostream endl ends flush ostream
queue: priority_queue queue
random: bernoulli_distribution binomial_distribution default_random_engine discrete_distribution
  exponential_distribution gamma_distribution geometric_distribution knuth_b linear_congruential_engine
  mersenne_twister_engine minstd_rand minstd_rand0 mt19937 mt19937_64 normal_distribution poisson_distribution
  random_device seed_seq uniform_int_distribution uniform_random_bit_generator uniform_real_distribution
ranges: ranges views
ratio: giga kilo mega micro milli nano pico ratio ratio_divide ratio_less ratio_multiply
regex: cmatch match_results regex regex_constants regex_error regex_iterator regex_match regex_replace regex_search
  regex_token_iterator smatch sregex_iterator sregex_token_iterator ssub_match sub_match
scoped_allocator: scoped_allocator_adaptor
semaphore: binary_semaphore counting_semaphore
set: erase_if multiset set
shared_mutex: shared_lock shared_mutex shared_timed_mutex
source_location: source_location
span: as_bytes as_writable_bytes dynamic_extent span
sstream: istringstream ostringstream stringbuf stringstream
stack: stack
stdexcept: domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error runtime_error
  underflow_error
stop_token: nostopstate stop_callback stop_source stop_token
streambuf: basic_streambuf streambuf
string: basic_string char_traits erase erase_if getline hash stod stof stoi stol stold stoll stoul stoull string
  string_literals to_string to_wstring u16string u32string u8string wstring
string_view: basic_string_view hash string_view string_view_literals u16string_view u32string_view u8string_view
  wstring_view
syncstream: osyncstream
system_error: errc error_category error_code error_condition generic_category hash is_error_code_enum
  is_error_condition_enum make_error_code make_error_condition system_category system_error
thread: hash jthread this_thread thread
tuple: apply forward_as_tuple get ignore make_from_tuple make_tuple tie tuple tuple_cat tuple_element tuple_element_t
  tuple_size tuple_size_v
type_traits: add_const_t add_lvalue_reference_t add_pointer_t add_rvalue_reference_t aligned_storage_t alignment_of_v
  bool_constant common_reference_t common_type common_type_t conditional conditional_t conjunction conjunction_v decay
  decay_t disjunction disjunction_v enable_if enable_if_t extent_v false_type has_unique_object_representations_v
  has_virtual_destructor_v integral_constant invoke_result invoke_result_t is_abstract_v is_aggregate_v is_arithmetic
  is_arithmetic_v is_array_v is_assignable_v is_base_of is_base_of_v is_class is_class_v is_const_v
  is_constant_evaluated is_constructible is_constructible_v is_convertible is_convertible_v is_copy_assignable_v
  is_copy_constructible_v is_default_constructible_v is_destructible_v is_empty_v is_enum is_enum_v is_final_v
  is_floating_point is_floating_point_v is_function_v is_fundamental_v is_integral is_integral_v is_invocable
  is_invocable_r_v is_invocable_v is_lvalue_reference_v is_member_function_pointer_v is_member_object_pointer_v
  is_move_assignable_v is_move_constructible_v is_nothrow_constructible_v is_nothrow_copy_constructible_v
  is_nothrow_default_constructible_v is_nothrow_destructible_v is_nothrow_invocable_r_v is_nothrow_invocable_v
  is_nothrow_move_assignable_v is_nothrow_move_constructible_v is_nothrow_swappable_v is_null_pointer_v is_object_v
  is_pointer is_pointer_v is_polymorphic_v is_reference_v is_rvalue_reference_v is_same is_same_v is_scalar_v
  is_signed is_signed_v is_standard_layout_v is_swappable_v is_trivial_v is_trivially_copyable is_trivially_copyable_v
  is_trivially_default_constructible_v is_trivially_destructible_v is_unsigned is_unsigned_v is_void is_void_v
  is_volatile_v make_signed_t make_unsigned make_unsigned_t negation negation_v rank_v remove_all_extents_t
  remove_const_t remove_cv_t remove_cvref remove_cvref_t remove_extent_t remove_pointer_t remove_reference
  remove_reference_t true_type type_identity type_identity_t underlying_type underlying_type_t void_t
typeindex: hash type_index
typeinfo: bad_cast bad_typeid type_info
unordered_map: erase_if unordered_map unordered_multimap
unordered_set: erase_if unordered_multiset unordered_set
utility: as_const cmp_equal cmp_greater cmp_greater_equal cmp_less cmp_less_equal cmp_not_equal declval exchange forward get
  in_place in_place_index in_place_index_t in_place_t in_place_type in_place_type_t in_range index_sequence
  index_sequence_for integer_sequence make_index_sequence make_integer_sequence make_pair move move_if_noexcept pair
  piecewise_construct piecewise_construct_t rel_ops swap tuple_element tuple_element_t tuple_size tuple_size_v
variant: bad_variant_access get get_if hash holds_alternative monostate variant variant_alternative_t variant_npos
  variant_size variant_size_v visit
vector: erase erase_if vector
version:
"""
# Names that many headers declare.
of_many = frozenset("begin cbegin cend crbegin crend data empty end literals rbegin rend size ssize".split())
# Names of C that need no std::, by header
of_c = re.compile(
    r"(?<![\w.>:])(?:::|std::)?(?:"
    r"(?P<cstdint>u?int(?:8|16|32|64|max|ptr)_t|U?INT(?:8|16|32|64|MAX|PTR)_(?:MAX|MIN|C)|SIZE_MAX)|(?P<cassert>assert)|"
    r"(?P<cerrno>errno)|(?P<climits>(?:S?CHAR|U?SHRT|U?INT|U?LONG|U?LLONG)_(?:MAX|MIN)|CHAR_BIT)|(?P<cstddef>offsetof)|"
    r"(?P<cstdlib>EXIT_SUCCESS|EXIT_FAILURE)|(?P<cstring>mem(?:cmp|cpy|move|set)|str(?:cmp|error|len|ncmp))|"
    r"(?P<cstdio>f?printf|snprintf|stderr|stdout))\b"
)
# header: what it must declare, too, because of its contract or of what its classes derive from or contain
brings = {
    "bitset": "string",
    "chrono": "ratio",
    "cinttypes": "cstdint",
    "condition_variable": "mutex",
    "filesystem": "string system_error",
    "fstream": "ios istream ostream streambuf string",
    "future": "exception stdexcept",
    "iostream": "ios istream ostream streambuf",
    "istream": "ios ostream streambuf",
    "map": "utility",
    "new": "exception",
    "ostream": "ios streambuf",
    "ranges": "iterator",
    "regex": "string stdexcept",
    "sstream": "ios istream ostream streambuf string",
    "stdexcept": "exception",
    "string": "string_view",
    "system_error": "exception stdexcept",
    "thread": "stop_token",
    "typeinfo": "exception",
    "unordered_map": "utility",
}

headers_of: Dict[str, Set[str]] = {}
for line in table.replace("\n  ", " ").split("\n"):
    header, _, names = line.partition(":")
    for name in names.split():
        headers_of.setdefault(name, set()).add(header)
standard = {line.partition(":")[0] for line in table.split("\n") if ":" in line} | {"cassert", "cerrno", "climits"}

# a comment, a string or a character
not_code = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
used = re.compile(r"\bstd::(\w+)")


def code_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return not_code.sub(lambda match: re.sub(r"[^\n]+", '""', match.group()), file.read())


def standard_headers(files: Iterable[str], graph: include_graph) -> Set[str]:
    """What the files include of the standard library, and what that must bring along."""
    found: Set[str] = set()
    for file in files:
        for name in graph.names_in(file):
            # <string.h> has the names of <cstring>
            name = f"c{name[:-2]}" if name.endswith(".h") and f"c{name[:-2]}" in standard else name
            found.update((name, *brings.get(name, "").split()))
    return found


def problems(path: str, graph: include_graph) -> Iterator[str]:
    code = code_of(path)
    there = standard_headers(graph.reached_from(path), graph)
    uses = [(match.start(), match.group(), headers_of.get(match.group(1))) for match in used.finditer(code)]
    uses += [(match.start(), match.group(), {str(match.lastgroup)}) for match in of_c.finditer(code)]
    for at, name, headers in sorted(uses, key=lambda use: use[0]):
        where = f"{path}:{code.count(chr(10), 0, at) + 1}"
        if headers is None:
            if name[len("std::"):] not in of_many:
                yield f"{where}: {name} is not in the table of std_includes.py"
        elif not headers & there:
            yield f"{where}: uses {name} without #include {' or '.join(f'<{each}>' for each in sorted(headers))}"
            there |= headers  # once per header


def main() -> int:
    files = sys.stdin.read().split()
    graph = include_graph(".", files)
    found = [each for path in files for each in problems(path, graph)]
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
