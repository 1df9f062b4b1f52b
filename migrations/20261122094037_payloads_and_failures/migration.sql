-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "NotificationEventType" ADD VALUE 'DESTINATION_WEBHOOK_FAILING';
ALTER TYPE "NotificationEventType" ADD VALUE 'DELIVERY_FAILED';

-- AlterTable
ALTER TABLE "DeliveryAttempt" ADD COLUMN     "responseBody" TEXT;

-- AlterTable
ALTER TABLE "Destination" ADD COLUMN     "isFailingTold" BOOLEAN NOT NULL DEFAULT false;
