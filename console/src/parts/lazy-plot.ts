/** Loads plots separately, so that the other parts of a page do not wait for them. */
import { lazy } from 'react';

export type { Series } from './plot.tsx';

export const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }));
