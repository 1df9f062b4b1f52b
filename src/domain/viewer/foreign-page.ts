/** Pages of other origins may send tokens of end users and keys for pages, but no credentials that can do more. */
import { forbidden } from '../../errors.ts';
import { pageOriginsOf } from '../project/origins.ts';
import { isForPages } from './scopes.ts';
import type { Viewer } from './viewer.ts';

/** Characters of an origin that messages repeat. */
const SHOWN_MAX = 100;

/** `page` is the origin of a page that is neither the gateway's own nor the operator's. Throws FORBIDDEN. */
export function refuseForeignPage(viewer: Viewer, page: string | null | undefined): void {
  if (page == null) return;
  const origin = page.slice(0, SHOWN_MAX);
  if (viewer.kind === 'BUILDER' || (viewer.kind === 'API_KEY' && !isForPages(viewer.scopes))) {
    const what = viewer.kind === 'API_KEY' ? 'This API key' : "A builder's token";
    throw forbidden(
      `${what} is not accepted from a page. Use an end user's token (createSessionToken creates one) or an API key ` +
        `with the scope frontend alone. Only if ${origin} is the operator's own, CORS_ORIGINS of the server may hold it.`,
    );
  }
  if (pageOriginsOf(viewer).includes(page)) return;
  throw forbidden(`Pages of ${origin} may not call for this project: allowedOrigins lacks it.`);
}
