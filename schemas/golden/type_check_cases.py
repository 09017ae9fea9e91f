"""The cases of type_checks.json: what make_type_checks.py collects."""

import base64

PUBLISHER = "arm (4711)"
THERE = f"at publisher `{PUBLISHER}`"
cases = []


def described(name, schema_encoding, message_encoding, schema):
    data = schema if isinstance(schema, bytes) else schema.encode()
    return {
        "name": name,
        "schema_encoding": schema_encoding,
        "message_encoding": message_encoding,
        "schema_base64": base64.b64encode(data).decode(),
    }


def add(case, published, expected, result="ok", message=""):
    assert all(each["case"] != case for each in cases), case
    cases.append(
        {
            "case": case,
            "published": published,
            "expected": expected,
            "publisher": PUBLISHER,
            "result": result,
            "message": message,
        }
    )


def same(case, published, expected):
    add(case, published, expected)


def differs(case, published, expected, what, there, here):
    """ "<what> is <there> at the publisher, <here> here"."""
    mismatch(case, published, expected, f"{what} is {there} {THERE}, {here} here")


def mismatch(case, published, expected, why):
    names = [each["name"] or "an unnamed type" for each in (published, expected)]
    add(
        case,
        published,
        expected,
        "type_mismatch",
        f"type mismatch between {names[0]} {THERE} and {names[1]} here: {why}",
    )


def other_name(case, published, expected):
    text = f"type is {published['name']} {THERE}, {expected['name']} here"
    add(case, published, expected, "type_mismatch", text)


def bad_there(case, published, expected, why):
    add(case, published, expected, "bad_argument", f"schema of {published['name']} {THERE}: {why}")


def bad_here(case, published, expected, why):
    add(case, published, expected, "bad_argument", f"schema of {expected['name']} here: {why}")
