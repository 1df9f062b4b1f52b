-- The key of DeliveryAttempt begins with its project. A migration of its own: no table is locked while another one is indexed.
CREATE UNIQUE INDEX "DeliveryAttempt_of_project_key" ON "DeliveryAttempt"("projectId", "id");
ALTER TABLE "DeliveryAttempt" DROP CONSTRAINT "DeliveryAttempt_pkey", ADD CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY USING INDEX "DeliveryAttempt_of_project_key";
DROP INDEX "DeliveryAttempt_deliveryId_attemptNumber_key";
CREATE UNIQUE INDEX "DeliveryAttempt_projectId_deliveryId_attemptNumber_key" ON "DeliveryAttempt"("projectId", "deliveryId", "attemptNumber");
