-- CreateEnum
CREATE TYPE "OrgRole" AS ENUM ('MEMBER', 'ADMIN');

-- Until now members could do everything, so existing members and invited people become admins.
-- AlterTable
ALTER TABLE "Invite" ADD COLUMN     "role" "OrgRole" NOT NULL DEFAULT 'ADMIN';

-- AlterTable
ALTER TABLE "OrgMember" ADD COLUMN     "role" "OrgRole" NOT NULL DEFAULT 'ADMIN';
