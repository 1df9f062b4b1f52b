/** Searches the project for pages, names, refs and IDs. */
import { useEffect, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Input,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
  Text,
} from 'react-aria-components';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { searchDialogQuery } from '../../__generated__/searchDialogQuery.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Loaded } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords } from '../parts/status.tsx';
import { CONSOLE_PAGES } from './pages.ts';

const QUERY = graphql`
  query searchDialogQuery(
    $project: String!
    $search: String
    $id: ID!
    $isId: Boolean!
    $isText: Boolean!
  ) {
    node(id: $id) @include(if: $isId) {
      __typename
      id
      ... on Integration {
        name
        latestRevision {
          content {
            displayName
          }
        }
      }
      ... on Group {
        groupRef
      }
      ... on Consumer {
        consumerRef
      }
      ... on Project {
        name
      }
      ... on ProviderApp {
        provider
      }
    }
    project(idOrName: $project) @include(if: $isText) {
      integrations(first: 5, search: $search) {
        nodes {
          ...integrationName_integration @relay(mask: false)
          provider
        }
      }
      connections(first: 5, search: $search) {
        nodes {
          id
          provider
          group {
            groupName
          }
          consumer {
            consumerName
          }
        }
      }
      groups(first: 5, search: $search) {
        nodes {
          groupRef
          groupName
        }
      }
      consumers(first: 5, search: $search) {
        nodes {
          consumerRef
          consumerName
        }
      }
      destinations(first: 5, search: $search) {
        nodes {
          id
          name
          type
        }
      }
      topics(first: 5, search: $search) {
        nodes {
          name
        }
      }
    }
    providers(first: 500) {
      nodes {
        name
        displayName
      }
    }
  }
`;

const ID = /^[a-z]{3}_[0-9a-z]{26}$/;
const SEARCH_LENGTH_MAX = 64;
const PROVIDERS_MAX = 5;
const DEBOUNCE_MS = 150;

interface SearchDialogProps {
  project: string;
  onClose: () => void;
}

export default function SearchDialog({ project, onClose }: SearchDialogProps) {
  const [text, setText] = useState('');
  return (
    <ModalOverlay
      className="overlay top"
      isDismissable
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      <Modal className="modal">
        <Dialog className="search-dialog" aria-label="Search">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField aria-label="Search" autoFocus>
              <Input placeholder="Search for a page, name, ref or ID" spellCheck={false} />
            </SearchField>
            <Loaded resetKey="search">
              <Results project={project} text={text} onOpened={onClose} />
            </Loaded>
          </Autocomplete>
          <p className="quiet keys">
            <kbd>↑</kbd> <kbd>↓</kbd> select, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes
          </p>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Returns the value once it has not changed for `DEBOUNCE_MS`. */
function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface Result {
  /** The path below the project. With a leading slash, it is relative to the root of the console. */
  path: string;
  name: string;
  kind: string;
  detail?: string;
}

interface ResultsProps {
  project: string;
  text: string;
  onOpened: () => void;
}

function Results({ project, text, onOpened }: ResultsProps) {
  const search = useDebounced(text.trim().slice(0, SEARCH_LENGTH_MAX));
  const isId = ID.test(search);
  const isText = search !== '' && !isId;
  const variables = { project, search: isText ? search : null, id: search, isId, isText };
  const data = usePageQuery<searchDialogQuery>(QUERY, variables);
  const getProviderName = useProviderNames();
  const [, navigate] = useLocation();
  const linkTo = useProjectLink(project);
  const results = [...findPages(text), ...listResults(data, search, getProviderName)];
  const open = (path: string) => {
    onOpened();
    navigate(path.startsWith('/') ? path : linkTo(path));
  };
  return (
    <Menu
      className="options results"
      aria-label="Results"
      items={results.map((result) => ({ ...result, id: result.path }))}
      onAction={(path) => open(String(path))}
      renderEmptyState={() => <p className="quiet">Nothing matches.</p>}
    >
      {({ name, kind, detail }) => (
        <MenuItem className="option result" textValue={name}>
          <Text slot="label">{name}</Text>
          <Text slot="description" className="quiet">
            {[kind, detail].filter(Boolean).join(' · ')}
          </Text>
        </MenuItem>
      )}
    </Menu>
  );
}

type SearchData = searchDialogQuery['response'];

const isMatch = (text: string, name: string) =>
  name.toLowerCase().includes(text.trim().toLowerCase());

/** Searching pages needs no request. */
function findPages(text: string): Result[] {
  return CONSOLE_PAGES.filter(({ List, name }) => List && isMatch(text, name)).map(
    ({ path, name }) => ({
      path,
      name,
      kind: 'Page',
    }),
  );
}

function listResults(
  { node, project, providers }: SearchData,
  search: string,
  getProviderName: (provider: string) => string,
): Result[] {
  // The first result is selected, so providers are shown only when the project's objects have arrived.
  if (search === '' || (!node && !project)) return [];
  const matchingProviders = providers.nodes
    .filter(({ name, displayName }) => isMatch(search, `${name} ${displayName}`))
    .slice(0, PROVIDERS_MAX)
    .map(({ name, displayName }) => ({
      path: `providers/${name}`,
      name: displayName,
      kind: 'Provider',
    }));
  return [
    ...(node ? [toNodeResult(node)] : []),
    ...(project ? listProjectResults(project, getProviderName) : []),
    ...matchingProviders,
  ];
}

function listProjectResults(
  project: NonNullable<SearchData['project']>,
  getProviderName: (provider: string) => string,
): Result[] {
  const { integrations, connections, groups, consumers, destinations, topics } = project;
  return [
    ...integrations.nodes.map((integration) => ({
      name: getIntegrationName(integration),
      kind: 'Integration',
      detail: getProviderName(integration.provider),
      path: `integrations/${encodeURIComponent(integration.name)}`,
    })),
    ...groups.nodes.map(({ groupRef, groupName }) => ({
      name: groupName,
      kind: 'Group',
      detail: groupRef,
      path: `groups/${encodeURIComponent(groupRef)}`,
    })),
    ...consumers.nodes.map(({ consumerRef, consumerName }) => ({
      name: consumerName,
      kind: 'Consumer',
      detail: consumerRef,
      path: `groups?search=${encodeURIComponent(consumerRef)}`,
    })),
    ...connections.nodes.map(({ id, provider, group, consumer }) => ({
      name: `${group.groupName} at ${getProviderName(provider)}`,
      kind: 'Connection',
      detail: consumer.consumerName,
      path: `connections/${id}`,
    })),
    ...destinations.nodes.map(({ id, name, type }) => ({
      name,
      kind: 'Destination',
      detail: formatWords(type),
      path: `destinations/${id}`,
    })),
    ...topics.nodes.map(({ name }) => ({ name, kind: 'Topic', path: 'routes' })),
  ];
}

/** Pages whose path contains the object's ID, by the prefix of the ID. */
const PAGES_BY_PREFIX: Record<string, string> = {
  con: 'connections',
  dlv: 'deliveries',
  dst: 'destinations',
  evt: 'events',
  ins: 'installations',
  opr: 'operations',
  prp: 'agents',
};
/** Pages that list objects without a page of their own. */
const LISTS_BY_PREFIX: Record<string, string> = {
  ags: 'agents',
  etr: 'routes',
  key: 'settings',
  jwk: 'settings',
  tdr: 'routes',
  top: 'routes',
};

function toNodeResult(node: NonNullable<SearchData['node']>): Result {
  const { __typename, id, groupRef, consumerRef, provider } = node;
  const prefix = id.slice(0, id.indexOf('_'));
  const { displayName } = node.latestRevision?.content ?? {};
  const name = displayName ?? node.name ?? groupRef ?? consumerRef ?? id;
  const result = { name, kind: formatKind(__typename) };
  if (__typename === 'Project') return { ...result, path: `/${node.name}` };
  if (__typename === 'Integration') return { ...result, path: `integrations/${node.name}` };
  if (groupRef) return { ...result, path: `groups/${encodeURIComponent(groupRef)}` };
  if (consumerRef) return { ...result, path: `groups?search=${encodeURIComponent(consumerRef)}` };
  if (provider) return { ...result, path: `providers/${provider}` };
  const page = PAGES_BY_PREFIX[prefix];
  return { ...result, path: page ? `${page}/${id}` : (LISTS_BY_PREFIX[prefix] ?? '') };
}

/** Converts `ConnectedAccount` to `Connected account`. */
function formatKind(typeName: string): string {
  return formatWords(typeName.replace(/(?<=[a-z])(?=[A-Z])/g, '_'));
}
