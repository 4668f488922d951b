"""Another implementation's view of our tokens: opens one of ours, and makes one for us to open."""

import json
import sys

from jwcrypto import jwe, jwk

question = json.load(sys.stdin)
key = jwk.JWK(kty="oct", k=question["key"])

ours = jwe.JWE(algs=["dir", "A256GCM"])
ours.deserialize(question["token"], key)

header = json.dumps({"alg": "dir", "enc": "A256GCM", "kid": question["kid"]}, separators=(",", ":"))
theirs = jwe.JWE(question["answer"].encode(), protected=header, algs=["dir", "A256GCM"])
theirs.add_recipient(key)

print(json.dumps({
    "content": ours.payload.decode(),
    "header": json.loads(ours.objects["protected"]),
    "token": theirs.serialize(compact=True),
}))
