// The link is used by a form, so that only looking at it does not use it up.
document.getElementById("login").submit();
