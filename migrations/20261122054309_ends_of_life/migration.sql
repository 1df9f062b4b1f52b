-- DropForeignKey
ALTER TABLE "DeliveryAttempt" DROP CONSTRAINT "DeliveryAttempt_projectId_fkey";

-- DropForeignKey
ALTER TABLE "InstalledObject" DROP CONSTRAINT "InstalledObject_projectId_fkey";

-- DropForeignKey
ALTER TABLE "OperationLog" DROP CONSTRAINT "OperationLog_projectId_fkey";

-- DropForeignKey
ALTER TABLE "WriteEntry" DROP CONSTRAINT "WriteEntry_projectId_fkey";

-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "consumerId" TEXT COLLATE "C",
ADD COLUMN     "groupId" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "NotificationEvent" ADD COLUMN     "consumerId" TEXT COLLATE "C",
ADD COLUMN     "groupId" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "Operation" ADD COLUMN     "consumerId" TEXT COLLATE "C",
ADD COLUMN     "groupId" TEXT COLLATE "C";

-- Whom they name, as far as it is known: by their installation, by what events say of it, by what was sent.
UPDATE "Operation" o SET "groupId" = i."groupId", "consumerId" = c."consumerId"
FROM "Installation" i JOIN "Connection" c ON c."projectId" = i."projectId" AND c."id" = i."connectionId"
WHERE i."projectId" = o."projectId" AND i."id" = o."installationId";

UPDATE "NotificationEvent" e SET
  "groupId" = (SELECT g."id" FROM "Group" g
    WHERE g."projectId" = e."projectId" AND g."groupRef" = e."data"->>'groupRef'),
  "consumerId" = (SELECT c."id" FROM "Consumer" c
    WHERE c."projectId" = e."projectId" AND c."consumerRef" = e."data"->>'consumerRef')
WHERE e."data" ? 'groupRef';

UPDATE "Delivery" d SET "groupId" = e."groupId", "consumerId" = e."consumerId"
FROM "NotificationEvent" e WHERE e."projectId" = d."projectId" AND e."id" = d."eventId";

-- Found in the message's head as text: its records may hold characters that json functions refuse.
UPDATE "Delivery" d SET
  "groupId" = (SELECT g."id" FROM "Group" g WHERE g."projectId" = d."projectId"
    AND g."groupRef" = substring(d."body" from '"groupRef":("(?:[^"\\]|\\.)*")')::json #>> '{}'),
  "consumerId" = (SELECT c."id" FROM "Consumer" c WHERE c."projectId" = d."projectId"
    AND c."consumerRef" = substring(d."body" from '"consumerRef":("(?:[^"\\]|\\.)*")')::json #>> '{}')
WHERE d."operationId" IS NOT NULL;

UPDATE "Operation" o SET "groupId" = e."groupId", "consumerId" = e."consumerId"
FROM (
  SELECT DISTINCT ON ("projectId", "installationId") "projectId", "installationId", "groupId", "consumerId"
  FROM "NotificationEvent" WHERE "installationId" IS NOT NULL AND "groupId" IS NOT NULL
  ORDER BY "projectId", "installationId", "position" DESC
) e
WHERE o."groupId" IS NULL AND e."projectId" = o."projectId" AND e."installationId" = o."installationId";

UPDATE "Operation" o SET "groupId" = d."groupId", "consumerId" = d."consumerId"
FROM "Delivery" d
WHERE o."groupId" IS NULL AND d."projectId" = o."projectId" AND d."operationId" = o."id";

-- CreateTable
CREATE TABLE "Erasure" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Erasure_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "Delivery_groupId_idx" ON "Delivery"("groupId") WHERE ("groupId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Delivery_consumerId_idx" ON "Delivery"("consumerId") WHERE ("consumerId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "IdempotencyKey_operationId_idx" ON "IdempotencyKey"("operationId");

-- CreateIndex
CREATE INDEX "NotificationEvent_groupId_idx" ON "NotificationEvent"("groupId") WHERE ("groupId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "NotificationEvent_consumerId_idx" ON "NotificationEvent"("consumerId") WHERE ("consumerId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Operation_groupId_idx" ON "Operation"("groupId") WHERE ("groupId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Operation_consumerId_idx" ON "Operation"("consumerId") WHERE ("consumerId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "Erasure" ADD CONSTRAINT "Erasure_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
