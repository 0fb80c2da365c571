#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check the JSON Schema: its shape, that it names every key, and what it accepts and refuses.

usage: schema.py SCHEMA SHOWN    (SHOWN: what `hutch config` printed)
"""
import json
import re
import sys

TYPES = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
KNOWN = {"$schema", "title", "description", "default", "type", "enum", "pattern", "anyOf", "items",
         "properties", "additionalProperties", "minimum", "maximum"}


def same(a, b):
    return type(a) is type(b) and a == b


def valid(schema, value):
    """The part of JSON Schema that the generator uses."""
    if schema is True or schema is False:
        return schema
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        return False
    if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
        return False
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        return False
    if "anyOf" in schema and not any(valid(one, value) for one in schema["anyOf"]):
        return False
    if TYPES["number"](value):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return False
    if isinstance(value, list):
        return all(valid(schema.get("items", True), one) for one in value)
    if isinstance(value, dict):
        named, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        return all(valid(named.get(key, rest), one) for key, one in value.items())
    return True


GOOD = [
    {},
    {"network": "off", "home": "kept=work", "tools": "nix=.#dev", "nesting": True},
    {"bind": "~/x", "mask": ["a", "b"], "env": {"A": "1", "B": 2}, "env-drop": []},
    {"memory": "2G", "timeout": "500ms", "tasks": 100, "user": 1000},
    {"memory": 1048576, "timeout": 90, "nesting": "yes", "env": ["A=1", "B"]},
]
BAD = [
    [],
    {"netwrok": "off"},
    {"network": "of"},
    {"network": ["off"]},
    {"home": "kept="},
    {"home": "private=x"},
    {"nesting": "maybe"},
    {"memory": "2X"},
    {"timeout": "soon"},
    {"tasks": 0},
    {"tasks": "many"},
    {"bind": {"a": "b"}},
    {"bind": [["a"]]},
]


def main():
    schema = json.load(open(sys.argv[1], encoding="utf-8"))
    shown = open(sys.argv[2], encoding="utf-8").read()
    keys = re.findall(r"^(?:# )?([a-z0-9-]+):", shown, re.M)
    tests = [("the schema names every key", sorted(keys) == sorted(schema["properties"]) and keys)]
    tests += [("the schema accepts " + json.dumps(one), valid(schema, one)) for one in GOOD]
    tests += [("the schema refuses " + json.dumps(one), not valid(schema, one)) for one in BAD]
    for name, passed in tests:
        print(("ok - " if passed else "not ok - ") + name)
    return 0 if all(passed for _, passed in tests) else 1


sys.exit(main())
