/** The pages of a project, each loaded when it is first opened. */
import { type ComponentType, lazy } from 'react';

export interface ConsolePageProps {
  /** The project's ID or name, from the URL. */
  project: string;
  /** The part of the path after the page's own path: an ID or a name. */
  id?: string | undefined;
}

interface ConsolePage {
  path: string;
  name: string;
  List?: ComponentType<ConsolePageProps>;
  DetailPage?: ComponentType<ConsolePageProps>;
  /** The path of the parent page. Absent for pages of the menu. */
  parent?: string;
}

type Module = Promise<{ default: ComponentType<ConsolePageProps> }>;

const definePage = (
  path: string,
  name: string,
  list?: () => Module,
  detail?: () => Module,
): ConsolePage => ({
  path,
  name,
  ...(list && { List: lazy(list) }),
  ...(detail && { DetailPage: lazy(detail) }),
});

/** Pages that are not in the menu. Each has a parent page in the menu. */
const UNLISTED: ConsolePage[] = [
  {
    ...definePage(
      'new-integration',
      'New integration',
      () => import('../integrations/new-integration-page.tsx'),
    ),
    parent: 'integrations',
  },
  {
    ...definePage(
      'new-provider',
      'New provider',
      () => import('../providers/new-provider-page.tsx'),
    ),
    parent: 'providers',
  },
];

interface MenuSection {
  /** The heading. Null for the first pages, which have none. */
  name: string | null;
  pages: ConsolePage[];
}

/** The menu, from top to bottom. */
export const SECTIONS: MenuSection[] = [
  {
    name: null,
    pages: [
      definePage('', 'Overview', () => import('../overview/overview-page.tsx')),
      definePage('start', 'Get started', () => import('../start/start-page.tsx')),
    ],
  },
  {
    name: 'Connect',
    pages: [
      definePage(
        'integrations',
        'Integrations',
        () => import('../integrations/integrations-page.tsx'),
        () => import('../integrations/integration-page.tsx'),
      ),
      definePage(
        'connections',
        'Connections',
        () => import('../connections/connections-page.tsx'),
        () => import('../connections/connection-page.tsx'),
      ),
      definePage(
        'groups',
        'Groups and consumers',
        () => import('../groups/groups-page.tsx'),
        () => import('../groups/group-page.tsx'),
      ),
      definePage(
        'providers',
        'Providers',
        () => import('../providers/providers-page.tsx'),
        () => import('../providers/provider-page.tsx'),
      ),
    ],
  },
  {
    name: 'Data',
    pages: [
      definePage(
        'installations',
        'Installations',
        () => import('../installations/installations-page.tsx'),
        () => import('../installations/installation-page.tsx'),
      ),
      definePage(
        'operations',
        'Operations',
        () => import('../operations/operations-page.tsx'),
        () => import('../operations/operation-page.tsx'),
      ),
      definePage(
        'agents',
        'Agents',
        () => import('../agents/agents-page.tsx'),
        () => import('../agents/proposal-page.tsx'),
      ),
      definePage('contract', 'Contract', () => import('../contract/contract-page.tsx')),
    ],
  },
  {
    name: 'Events',
    pages: [
      definePage(
        'events',
        'Events',
        () => import('../events/events-page.tsx'),
        () => import('../events/event-page.tsx'),
      ),
      definePage('routes', 'Routes', () => import('../routes/routes-page.tsx')),
      definePage(
        'destinations',
        'Destinations',
        () => import('../destinations/destinations-page.tsx'),
        () => import('../destinations/destination-page.tsx'),
      ),
      definePage(
        'deliveries',
        'Deliveries',
        () => import('../destinations/deliveries-page.tsx'),
        () => import('../destinations/delivery-page.tsx'),
      ),
    ],
  },
  {
    name: 'Project',
    pages: [
      definePage(
        'configuration',
        'Configuration',
        () => import('../plans/configuration-page.tsx'),
        () => import('../plans/plan-page.tsx'),
      ),
      definePage('members', 'Members', () => import('../org/members-page.tsx')),
      definePage('settings', 'Settings', () => import('../settings/settings-page.tsx')),
    ],
  },
];

export const CONSOLE_PAGES: ConsolePage[] = [
  ...SECTIONS.flatMap(({ pages }) => pages),
  ...UNLISTED,
];
