"""A small web shop, as an agent would find it: enough code that looking for something costs something."""

FILES = {
    "README.md": """# Shop

A small web shop: products, carts, orders, and users who log in.

Run the tests with `pnpm test`, the server with `python -m shop`. Redis must be running.
The front end is in `web/`, the API in `shop/`.
""",
    "shop/__main__.py": """from shop.server import make_app
from shop.settings import load


def main():
    settings = load()
    app = make_app(settings)
    app.run(host=settings.host, port=settings.port)


if __name__ == "__main__":
    main()
""",
    "shop/settings.py": """import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    host: str = "127.0.0.1"
    port: int = 8080
    redis_url: str = "redis://localhost:6379/0"
    login_attempts: int = 5
    login_window_minutes: int = 15
    session_cookie: str = ""
    log_level: str = "info"


def load(environment=os.environ):
    known = {name: environment[f"SHOP_{name.upper()}"] for name in Settings.__annotations__
             if f"SHOP_{name.upper()}" in environment}
    for name in ("port", "login_attempts", "login_window_minutes"):
        if name in known:
            known[name] = int(known[name])
    return Settings(**known)
""",
    "shop/server.py": """from shop import carts, login, orders, products, users
from shop.web import App


def make_app(settings):
    app = App(settings)
    app.route("POST", "/login", login.log_in)
    app.route("POST", "/logout", login.log_out)
    app.route("POST", "/login/renew", login.renew)
    app.route("GET", "/products", products.list_products)
    app.route("GET", "/products/{id}", products.show)
    app.route("POST", "/carts", carts.create)
    app.route("POST", "/carts/{id}/items", carts.add_item)
    app.route("POST", "/orders", orders.place)
    app.route("GET", "/orders/{id}", orders.show)
    app.route("GET", "/users/me", users.me)
    return app
""",
    "shop/login.py": """from shop import audit, users
from shop.auth import limits, tokens
from shop.web import Response, bad_request, unauthorised


def log_in(request):
    \"\"\"Check the password and hand out a pair of tokens. Users stay logged in until they log out.\"\"\"
    name, password = request.json.get("name"), request.json.get("password")
    if not name or not password:
        return bad_request("name and password, please")
    if limits.too_many(request.settings, name):
        audit.note("login", name, "too many attempts")
        return Response(429, {"error": "try again in a few minutes"})
    user = users.check(name, password)
    if user is None:
        limits.count(request.settings, name)
        return unauthorised()
    audit.note("login", name, "logged in")
    return Response(200, tokens.issue(user))


def renew(request):
    \"\"\"A new access token for a refresh token, so that users are not logged out while they work.\"\"\"
    pair = tokens.renew(request.json.get("refresh"))
    return Response(200, pair) if pair else unauthorised()


def log_out(request):
    tokens.revoke(request.user)
    audit.note("login", request.user.name, "logged out")
    return Response(204, None)
""",
    "shop/auth/limits.py": """import time

_attempts = {}


def count(settings, name):
    _attempts.setdefault(name, []).append(time.time())


def too_many(settings, name):
    \"\"\"More attempts than allowed within the window of minutes.\"\"\"
    since = time.time() - settings.login_window_minutes * 60
    recent = [when for when in _attempts.get(name, []) if when > since]
    _attempts[name] = recent
    return len(recent) >= settings.login_attempts
""",
    "shop/auth/tokens.py": """import secrets
import time

from shop import keystore

ACCESS_SECONDS = 300
REFRESH_SECONDS = 24 * 3600


def issue(user):
    access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    keystore.put(f"access:{access}", user.id, ACCESS_SECONDS)
    keystore.put(f"refresh:{refresh}", user.id, ACCESS_SECONDS)
    return {"access": access, "refresh": refresh, "expires": time.time() + ACCESS_SECONDS}


def renew(refresh):
    user_id = keystore.get(f"refresh:{refresh}")
    return None if user_id is None else issue_for(user_id)


def issue_for(user_id):
    access = secrets.token_urlsafe(32)
    keystore.put(f"access:{access}", user_id, ACCESS_SECONDS)
    return {"access": access, "expires": time.time() + ACCESS_SECONDS}


def revoke(user):
    keystore.drop_all(user.id)
""",
    "shop/keystore.py": """import redis

_redis = None


def connect(url):
    global _redis
    _redis = redis.Redis.from_url(url, decode_responses=True)


def put(key, value, seconds):
    _redis.set(key, value, ex=seconds)


def get(key):
    return _redis.get(key)


def drop_all(user_id):
    for key in _redis.scan_iter("*"):
        if _redis.get(key) == str(user_id):
            _redis.delete(key)
""",
    "shop/users.py": """from shop import passwords
from shop.store import fetch_one
from shop.web import Response


def check(name, password):
    \"\"\"The user, if the password is right.\"\"\"
    user = fetch_one("select * from users where name = ?", name)
    if user and passwords.matches(password, user.password_hash):
        return user
    return None


def me(request):
    \"\"\"Who is logged in.\"\"\"
    return Response(200, {"name": request.user.name, "since": request.user.created})
""",
    "shop/orders.py": """from shop import audit, carts, mail
from shop.store import fetch_one, insert
from shop.web import Response, bad_request


def place(request):
    \"\"\"Turn a cart into an order. Users get a mail within minutes.\"\"\"
    cart = carts.load(request.json.get("cart"))
    if cart is None or not cart.items:
        return bad_request("an empty cart")
    order = insert("orders", user=request.user.id, total=cart.total, items=cart.items)
    audit.note("order", request.user.name, f"placed {order.id}")
    mail.send_later(request.user, "order", order)
    return Response(201, {"id": order.id, "total": order.total})


def show(request):
    order = fetch_one("select * from orders where id = ? and user = ?", request.params["id"], request.user.id)
    return Response(200, order) if order else Response(404, None)
""",
    "shop/carts.py": """from shop.store import fetch_one, insert, update
from shop.web import Response, bad_request

KEPT_HOURS = 24


def create(request):
    return Response(201, {"id": insert("carts", user=request.user and request.user.id).id})


def load(cart_id):
    return fetch_one("select * from carts where id = ?", cart_id)


def add_item(request):
    \"\"\"Carts of users who are logged out are kept for 24 hours.\"\"\"
    cart = load(request.params["id"])
    if cart is None:
        return bad_request("no such cart")
    update("carts", cart.id, items=[*cart.items, request.json["item"]])
    return Response(200, {"items": len(cart.items) + 1})
""",
    "web/session.ts": """// Keeps the user logged in: renews the access token a little before it expires.
import { post } from "./api";

let timer: number | undefined;

export function loggedIn(pair: { access: string; refresh: string; expires: number }) {
  localStorage.setItem("pair", JSON.stringify(pair));
  window.clearTimeout(timer);
  timer = window.setTimeout(() => renew(pair.refresh), pair.expires * 1000 - Date.now() - 30_000);
}

async function renew(refresh: string) {
  const answer = await post("/login/renew", { refresh });
  if (answer.status === 200) loggedIn({ refresh, ...answer.body });
  else loggedOut();
}

export function loggedOut() {
  localStorage.removeItem("pair");
  location.assign("/login");
}
""",
}
