/**
 * The origins of a project's own pages. These pages may send tokens of end users, frame the connect page, receive the
 * result of a connect, and be targets of redirects. CORS, framing and redirects all use `listPageOrigins`.
 */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { Issue } from '../../errors.ts';
import { isOrigin, origin } from '../../setting-kinds.ts';
import type { Services } from '../call.ts';
import { createInputIssue } from '../issues.ts';

const ORIGINS_MAX = 50;

export const allowedOrigins = z
  .array(origin.max(256))
  .max(ORIGINS_MAX)
  .transform((origins) => [...new Set(origins)])
  .describe(
    "Origins like https://app.example whose pages may call the gateway with tokens of the project's end users. At most 50.",
  );

/** Lists the origins of a project's own pages. Omits wildcards, which old rows may contain. */
export function listPageOrigins({
  allowedOrigins,
}: {
  allowedOrigins: readonly string[];
}): readonly string[] {
  return allowedOrigins.filter(isOrigin);
}

/** Lists the origins whose pages may frame the connect page of a project. Empty if the project does not exist. */
export async function findAllowedOrigins(
  { database }: Pick<Services, 'database'>,
  id: string,
): Promise<readonly string[]> {
  const project = await database.rows.findProject({ id });
  return project ? listPageOrigins(project) : [];
}

/** The gateway's own page on which end users connect. */
export const CONNECT_PATH = '/connect';

/**
 * Returns an issue if a browser must not be redirected to the URL. The project or the operator must allow its origin,
 * unless it is the connect page.
 */
export function listReturnIssues(
  { config, publicUrl }: Pick<Services, 'config' | 'publicUrl'>,
  project: Pick<Row<'Project'>, 'allowedOrigins'>,
  url: string | null | undefined,
  field: string,
): Issue[] {
  if (url == null) return [];
  const allowedOrigins = [...config.REDIRECT_ORIGINS, ...listPageOrigins(project)];
  const { origin, pathname } = new URL(url);
  const isConnectPage = origin + pathname === publicUrl() + CONNECT_PATH;
  if (isConnectPage || allowedOrigins.includes(origin)) return [];
  const detail =
    'must have an origin that is in allowedOrigins of the project or in REDIRECT_ORIGINS of the server.';
  return [createInputIssue(['input', field], detail, url)];
}
