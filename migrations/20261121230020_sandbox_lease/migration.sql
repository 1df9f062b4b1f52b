-- CreateTable
CREATE TABLE "SandboxLease" (
    "id" INTEGER NOT NULL,
    "token" TEXT NOT NULL,
    "url" TEXT,
    "expireTime" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SandboxLease_pkey" PRIMARY KEY ("id")
);
