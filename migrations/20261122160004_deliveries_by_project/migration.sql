-- Lists of a project, and what is due, are ranges of indexes that begin with the project.
CREATE INDEX "Delivery_projectId_destinationId_nextAttemptTime_idx" ON "Delivery"("projectId", "destinationId", "nextAttemptTime") WHERE ("nextAttemptTime" IS NOT NULL);
DROP INDEX "Delivery_destinationId_nextAttemptTime_idx";
CREATE INDEX "Delivery_projectId_destinationId_id_idx" ON "Delivery"("projectId", "destinationId", "id");
CREATE INDEX "Delivery_projectId_destinationId_status_id_idx" ON "Delivery"("projectId", "destinationId", "status", "id");
CREATE INDEX "Delivery_projectId_eventId_id_idx" ON "Delivery"("projectId", "eventId", "id");
CREATE INDEX "Delivery_projectId_destinationId_orderKey_id_idx" ON "Delivery"("projectId", "destinationId", "orderKey", "id") WHERE ("orderKey" IS NOT NULL);
DROP INDEX "Delivery_destinationId_id_idx";
DROP INDEX "Delivery_destinationId_orderKey_id_idx";
DROP INDEX "Delivery_destinationId_status_id_idx";
DROP INDEX "Delivery_eventId_id_idx";
