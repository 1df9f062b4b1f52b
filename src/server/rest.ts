/** The way to /v1. */
import type { Rest } from '../rest/rest.ts';
import type { Way } from './front.ts';
import type { Load } from './load.ts';

const REST_PATH = '/v1';

export function restWay(rest: Rest, load: Load): Way {
  return (req, res, { path }) => {
    if (path !== REST_PATH && !path.startsWith(`${REST_PATH}/`)) return false;
    if (load.enter(res, 'application/problem+json')) rest.routing(req, res);
    return true;
  };
}
