-- AlterTable
ALTER TABLE "Proposal" ADD COLUMN     "omittedFields" JSONB;

-- AlterTable
ALTER TABLE "WriteEntry" ADD COLUMN     "omittedFields" JSONB;
