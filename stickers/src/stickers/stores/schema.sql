-- The tables of the SQLite store: the same five as in the article, typed.
CREATE TABLE IF NOT EXISTS packs (
    name TEXT PRIMARY KEY, title TEXT NOT NULL, size INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS stickers (
    id INTEGER PRIMARY KEY,
    pack TEXT NOT NULL, number INTEGER NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
    rating INTEGER NOT NULL,
    up INTEGER NOT NULL CHECK (up >= 0), down INTEGER NOT NULL CHECK (down >= 0),
    judged INTEGER NOT NULL,
    UNIQUE (pack, number)
);
CREATE INDEX IF NOT EXISTS stickers_rating ON stickers (rating, id);
CREATE INDEX IF NOT EXISTS stickers_judged ON stickers (rating, id) WHERE judged = 1;

CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, created INTEGER NOT NULL, seen INTEGER NOT NULL,
    visits INTEGER NOT NULL, address TEXT NOT NULL, agent TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_seen ON sessions (seen);

CREATE TABLE IF NOT EXISTS secret (
    token TEXT PRIMARY KEY, mate TEXT NOT NULL, session TEXT NOT NULL,
    sticker INTEGER NOT NULL, expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS secret_expires ON secret (expires);

CREATE TABLE IF NOT EXISTS server (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
