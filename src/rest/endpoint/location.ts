import type { RestRequest } from './endpoint.ts';

/** Tells where that is which was made; for endpoints whose answers have no body. */
export function tellLocation({ url, setHeader }: RestRequest, id: string): void {
  setHeader('location', `${url.split('?')[0]}/${id}`);
}
