-- CreateTable
-- Unlogged: it is written with every request, and nobody misses it after a crash.
CREATE UNLOGGED TABLE "CallerRate" (
    "callerId" TEXT COLLATE "C" NOT NULL,
    "tokens" DOUBLE PRECISION NOT NULL,
    "refillTime" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "CallerRate_pkey" PRIMARY KEY ("callerId")
);
