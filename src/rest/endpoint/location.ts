import type { RestRequest } from './endpoint.ts';

/** The Location header of what was created; for endpoints whose answers have no body. */
export function tellLocation({ url, setHeader }: RestRequest, id: string): void {
  setHeader('location', `${url.split('?')[0]}/${id}`);
}
