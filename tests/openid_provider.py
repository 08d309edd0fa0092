"""A small OpenID provider with real keys on a real port: discovery, published keys and the device flow."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "recollect"


class OpenIdServer:
    """`subject` is who signs in next. A person who has to enter a code does so after the first question for the token."""

    def __init__(self):
        self.subject = "ben"
        self.refuses = False
        self.keys_read = 0
        self.keys = {"k1": new_key()}
        self.asked = 0
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(200, provider.document() if "well-known" in self.path else provider.published())

            def do_POST(self):
                fields = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
                self._send(*(provider.device(fields) if self.path == "/device" else provider.token(fields)))

            def _send(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def document(self):
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            "device_authorization_endpoint": f"{self.issuer}/device",
            "token_endpoint": f"{self.issuer}/token",
        }

    def published(self):
        self.keys_read += 1
        return {
            "keys": [
                json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": name, "use": "sig"}
                for name, key in self.keys.items()
            ]
        }

    def device(self, fields):
        assert fields["client_id"] == [CLIENT]
        page = f"{self.issuer}/enter"
        return 200, {"device_code": "d1", "user_code": "WDJB", "verification_uri": page, "interval": 0}

    def token(self, fields):
        assert fields["device_code"] == ["d1"]
        self.asked += 1
        if self.refuses:
            return 400, {"error": "access_denied"}
        if self.asked % 2:
            return 400, {"error": "authorization_pending"}
        return 200, {"id_token": self.id_token(), "token_type": "Bearer", "access_token": "unused"}

    def id_token(self, kid="k1", key=None, algorithm="RS256", **claims):
        """Return a token for the subject, with other claims or another key if given."""
        now = int(time.time())
        values = {"iss": self.issuer, "aud": CLIENT, "sub": self.subject, "iat": now, "exp": now + 300}
        values |= claims
        kept = {name: value for name, value in values.items() if value is not None}
        return jwt.encode(kept, key or self.keys[kid], algorithm, headers={"kid": kid})

    def add_key(self, name):
        self.keys[name] = new_key()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)
