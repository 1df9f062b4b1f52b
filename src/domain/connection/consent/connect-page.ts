/** Reads the content of the pages of a connect: the app that sent the person, and further steps at the provider. */
import type { Services } from '../../call.ts';
import { listPageOrigins } from '../../project/origins.ts';

export interface ConnectPage {
  appName: string;
  /** Whether the page names the gateway. A plan may remove the name. */
  isBranded: boolean;
  /** The URL where users install the app's package at the provider. Null if the provider needs none. */
  packageInstallUrl: string | null;
  /** The origins of the project's pages. A page that opened the connect in a window receives its result. */
  origins: readonly string[];
}

/** Returns null if the project was deleted. */
export async function findConnectPage(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, providerAppId }: { projectId: string; providerAppId: string },
): Promise<ConnectPage | null> {
  const [project, app] = await Promise.all([
    prisma.project.findUnique({
      where: { id: projectId },
      select: { appName: true, brandingRemoval: true, allowedOrigins: true },
    }),
    prisma.providerApp.findUnique({
      where: { projectId_id: { projectId, id: providerAppId } },
      select: { metadata: true },
    }),
  ]);
  if (!project) return null;
  const { appName, brandingRemoval } = project;
  return {
    appName,
    isBranded: !brandingRemoval,
    packageInstallUrl: findPackageInstallUrl(app),
    origins: listPageOrigins(project),
  };
}

/** The URL starts with https: createProviderApp has validated it. */
export function findPackageInstallUrl(app: { metadata: unknown } | null): string | null {
  const { providerParams } = (app?.metadata ?? {}) as {
    providerParams?: { packageInstallURL?: string };
  };
  return providerParams?.packageInstallURL ?? null;
}
