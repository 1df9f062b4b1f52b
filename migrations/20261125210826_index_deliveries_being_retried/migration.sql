-- Deliveries that have failed before the migration and are being retried.
UPDATE "Delivery" SET "isRetrying" = true WHERE "status" = 'PENDING' AND "attemptCount" > 0;

-- New indexes are created before the old ones are dropped: creation blocks writes, but only DROP INDEX blocks reads.
-- CreateIndex
CREATE INDEX "Delivery_projectId_status_isRetrying_id_idx" ON "Delivery"("projectId", "status", "isRetrying", "id");

-- CreateIndex
CREATE INDEX "Delivery_projectId_eventType_status_isRetrying_id_idx" ON "Delivery"("projectId", "eventType", "status", "isRetrying", "id") WHERE ("eventType" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Delivery_projectId_destinationId_status_isRetrying_id_idx" ON "Delivery"("projectId", "destinationId", "status", "isRetrying", "id");

-- DropIndex
DROP INDEX "Delivery_projectId_destinationId_status_id_idx";

-- DropIndex
DROP INDEX "Delivery_projectId_eventType_status_id_idx";

-- DropIndex
DROP INDEX "Delivery_projectId_status_id_idx";
