-- CreateTable
CREATE TABLE "ConsoleSession" (
    "id" TEXT COLLATE "C" NOT NULL,
    "builderId" TEXT COLLATE "C" NOT NULL,
    "expireTime" TIMESTAMPTZ(3) NOT NULL,
    "endTime" TIMESTAMPTZ(3) NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ConsoleSession_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ConsoleSession_builderId_createTime_idx" ON "ConsoleSession"("builderId", "createTime");

-- CreateIndex
CREATE INDEX "ConsoleSession_expireTime_idx" ON "ConsoleSession"("expireTime");

-- AddForeignKey
ALTER TABLE "ConsoleSession" ADD CONSTRAINT "ConsoleSession_builderId_fkey" FOREIGN KEY ("builderId") REFERENCES "Builder"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
