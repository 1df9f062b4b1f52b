-- AlterEnum
ALTER TYPE "DestinationType" ADD VALUE 'STREAM';

-- AlterTable
ALTER TABLE "Destination" ALTER COLUMN "url" DROP NOT NULL,
ALTER COLUMN "signingSecretSealed" DROP NOT NULL;

-- CreateTable
CREATE TABLE "StreamLog" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "destinationId" TEXT COLLATE "C" NOT NULL,
    "lastPosition" BIGINT NOT NULL DEFAULT 0,
    "lastByte" BIGINT NOT NULL DEFAULT 0,
    "removedPosition" BIGINT NOT NULL DEFAULT 0,
    "removedByte" BIGINT NOT NULL DEFAULT 0,
    "isDeleted" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "StreamLog_pkey" PRIMARY KEY ("projectId","destinationId")
);

-- CreateTable
CREATE TABLE "StreamMessage" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "destinationId" TEXT COLLATE "C" NOT NULL,
    "position" BIGINT NOT NULL,
    "lastByte" BIGINT NOT NULL,
    "groupId" TEXT COLLATE "C",
    "consumerId" TEXT COLLATE "C",
    "body" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "StreamMessage_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "StreamMessage_projectId_groupId_idx" ON "StreamMessage"("projectId", "groupId") WHERE ("groupId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "StreamMessage_projectId_consumerId_idx" ON "StreamMessage"("projectId", "consumerId") WHERE ("consumerId" IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "StreamMessage_projectId_destinationId_position_key" ON "StreamMessage"("projectId", "destinationId", "position");

-- AddForeignKey
ALTER TABLE "StreamLog" ADD CONSTRAINT "StreamLog_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Only a stream has neither. (Its type can't be named in the transaction that adds it.)
ALTER TABLE "Destination" ADD CONSTRAINT "Destination_webhook_check"
    CHECK (("type" = 'WEBHOOK') = ("url" IS NOT NULL AND "signingSecretSealed" IS NOT NULL));
