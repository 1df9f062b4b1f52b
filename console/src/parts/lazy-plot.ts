/** Loads plots separately, so that the rest of a page does not wait for them. */
import { lazy } from 'react';

export type { Series } from './plot.tsx';

export const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }));
