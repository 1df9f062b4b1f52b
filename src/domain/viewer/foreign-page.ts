/** Pages of other origins send tokens of end users, and nothing that a page can't keep to itself. */
import { forbidden } from '../../errors.ts';
import { pageOriginsOf } from '../project/origins.ts';
import type { Viewer } from './viewer.ts';

/** Of an origin, as far as it is repeated. */
const SHOWN_MAX = 100;

/** `page` is the origin of a page that is neither the gateway's own nor the operator's. Throws FORBIDDEN. */
export function refuseForeignPage(viewer: Viewer, page: string | null | undefined): void {
  if (page == null) return;
  const origin = page.slice(0, SHOWN_MAX);
  if (viewer.kind !== 'END_USER') {
    const what = viewer.kind === 'API_KEY' ? 'An API key' : "A builder's token";
    throw forbidden(
      `${what} is not taken from a page. Use an end user's token: createSessionToken makes one. ` +
        `Only if ${origin} is the operator's own, CORS_ORIGINS of the server may hold it.`,
    );
  }
  if (pageOriginsOf(viewer).includes(page)) return;
  throw forbidden(`Pages of ${origin} may not call for this project: allowedOrigins lacks it.`);
}
