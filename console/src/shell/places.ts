/** The pages of a project, each loaded when it is first opened. */
import { type ComponentType, lazy } from 'react';

export interface PageProps {
  /** The project's ID or name, as in the URL. */
  project: string;
  /** The rest of the path below the page: an ID or a name. */
  id?: string | undefined;
}

interface Place {
  path: string;
  name: string;
  List?: ComponentType<PageProps>;
  One?: ComponentType<PageProps>;
}

type Module = Promise<{ default: ComponentType<PageProps> }>;

const place = (path: string, name: string, list?: () => Module, one?: () => Module): Place => ({
  path,
  name,
  ...(list && { List: lazy(list) }),
  ...(one && { One: lazy(one) }),
});

export const PLACES: Place[] = [
  place('', 'Overview', () => import('../overview/overview-page.tsx')),
  place(
    'connections',
    'Connections',
    () => import('../connections/connections-page.tsx'),
    () => import('../connections/connection-page.tsx'),
  ),
  place(
    'groups',
    'Groups and consumers',
    () => import('../groups/groups-page.tsx'),
    () => import('../groups/group-page.tsx'),
  ),
  place(
    'integrations',
    'Integrations',
    () => import('../integrations/integrations-page.tsx'),
    () => import('../integrations/integration-page.tsx'),
  ),
  place(
    'installations',
    'Installations',
    () => import('../installations/installations-page.tsx'),
    () => import('../installations/installation-page.tsx'),
  ),
  place(
    'operations',
    'Operations',
    () => import('../operations/operations-page.tsx'),
    () => import('../operations/operation-page.tsx'),
  ),
  place(
    'events',
    'Events',
    () => import('../events/events-page.tsx'),
    () => import('../events/event-page.tsx'),
  ),
  place('routes', 'Routes', () => import('../routes/routes-page.tsx')),
  place(
    'destinations',
    'Destinations',
    () => import('../destinations/destinations-page.tsx'),
    () => import('../destinations/destination-page.tsx'),
  ),
  place(
    'deliveries',
    'Deliveries',
    () => import('../destinations/deliveries-page.tsx'),
    () => import('../destinations/delivery-page.tsx'),
  ),
  place(
    'providers',
    'Providers',
    () => import('../providers/providers-page.tsx'),
    () => import('../providers/provider-page.tsx'),
  ),
  place('settings', 'Settings', () => import('../settings/settings-page.tsx')),
];
