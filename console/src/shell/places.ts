/** The pages of a project, each loaded when it is first opened. */
import { type ComponentType, lazy } from 'react';

export interface PageProps {
  /** Its id or name, as the address has it. */
  project: string;
  /** What the address says below the place: an id or a name. */
  id?: string | undefined;
}

interface Place {
  path: string;
  name: string;
  List: ComponentType<PageProps>;
  One?: ComponentType<PageProps>;
}

export const PLACES: Place[] = [
  {
    path: '',
    name: 'Overview',
    List: lazy(() => import('../overview/overview-page.tsx')),
  },
  {
    path: 'connections',
    name: 'Connections',
    List: lazy(() => import('../connections/connections-page.tsx')),
    One: lazy(() => import('../connections/connection-page.tsx')),
  },
];
