// How ORC_DESCRIBE treats each of its arguments: preprocessor only.
#pragma once

#define ORC_DETAIL_PARENS ()

// Scans its argument 341 times: as many fields can be named.
#define ORC_DETAIL_EXPAND(...) \
  ORC_DETAIL_EXPAND_1(ORC_DETAIL_EXPAND_1(ORC_DETAIL_EXPAND_1(ORC_DETAIL_EXPAND_1(__VA_ARGS__))))
#define ORC_DETAIL_EXPAND_1(...) \
  ORC_DETAIL_EXPAND_2(ORC_DETAIL_EXPAND_2(ORC_DETAIL_EXPAND_2(ORC_DETAIL_EXPAND_2(__VA_ARGS__))))
#define ORC_DETAIL_EXPAND_2(...) \
  ORC_DETAIL_EXPAND_3(ORC_DETAIL_EXPAND_3(ORC_DETAIL_EXPAND_3(ORC_DETAIL_EXPAND_3(__VA_ARGS__))))
#define ORC_DETAIL_EXPAND_3(...) \
  ORC_DETAIL_EXPAND_4(ORC_DETAIL_EXPAND_4(ORC_DETAIL_EXPAND_4(ORC_DETAIL_EXPAND_4(__VA_ARGS__))))
#define ORC_DETAIL_EXPAND_4(...) __VA_ARGS__

// ORC_DETAIL_EACH(M, Type, a, b): M(Type, a) M(Type, b)
#define ORC_DETAIL_EACH(macro, Type, ...) __VA_OPT__(ORC_DETAIL_EXPAND(ORC_DETAIL_NEXT(macro, Type, __VA_ARGS__)))
#define ORC_DETAIL_NEXT(macro, Type, item, ...) \
  macro(Type, item) __VA_OPT__(ORC_DETAIL_AGAIN ORC_DETAIL_PARENS(macro, Type, __VA_ARGS__))
#define ORC_DETAIL_AGAIN() ORC_DETAIL_NEXT

// An item is `q`, or `(q, "rad")`, or `(q, "rad", "measured")`. ORC_DETAIL_ITEM(M, Type, item) calls M(Type, q, "rad",
// "measured"), with "" for what is not there.
#define ORC_DETAIL_ITEM(macro, Type, item) ORC_DETAIL_ITEM_1(macro, Type, ORC_DETAIL_BARE(item))
#define ORC_DETAIL_ITEM_1(macro, Type, ...) ORC_DETAIL_ITEM_2(macro, Type, __VA_ARGS__, "", "")
#define ORC_DETAIL_ITEM_2(macro, Type, field, unit, comment, ...) macro(Type, field, unit, comment)

// `q` for `q`, and `q, "rad"` for `(q, "rad")`.
#define ORC_DETAIL_BARE(item) ORC_DETAIL_JOIN(ORC_DETAIL_BARE_, ORC_DETAIL_SECOND(ORC_DETAIL_PROBE item, 0, ~))(item)
#define ORC_DETAIL_PROBE(...) ~, 1
#define ORC_DETAIL_SECOND(...) ORC_DETAIL_SECOND_1(__VA_ARGS__)
#define ORC_DETAIL_SECOND_1(first, second, ...) second
#define ORC_DETAIL_JOIN(a, b) ORC_DETAIL_JOIN_1(a, b)
#define ORC_DETAIL_JOIN_1(a, b) a##b
#define ORC_DETAIL_BARE_0(item) item
#define ORC_DETAIL_BARE_1(item) ORC_DETAIL_BARE_2 item
#define ORC_DETAIL_BARE_2(...) __VA_ARGS__
