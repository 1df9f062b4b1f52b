/** Shows providers by their display names, after their initials. Logos are trademarks, so none are shown. */
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { providerMarkQuery } from '../../__generated__/providerMarkQuery.graphql.ts';

/** Shows a provider's display name after its mark. */
export function ProviderName({ provider }: { provider: string }) {
  const getProviderName = useProviderNames();
  const displayName = getProviderName(provider);
  return (
    <span className="provider">
      <ProviderMark displayName={displayName} />
      {displayName}
    </span>
  );
}

const QUERY = graphql`
  query providerMarkQuery {
    providers(first: 1000) {
      nodes {
        name
        displayName
      }
    }
  }
`;

/** Returns a function that returns a provider's display name by its name, like `hubspot`. */
export function useProviderNames(): (provider: string) => string {
  // The catalog changes only with a new version of the gateway.
  const options = { fetchPolicy: 'store-or-network' } as const;
  const { providers } = useLazyLoadQuery<providerMarkQuery>(QUERY, {}, options);
  return (provider) =>
    providers.nodes.find(({ name }) => name === provider)?.displayName ?? provider;
}

export function ProviderMark({ displayName }: { displayName: string }) {
  return (
    <span className="mark" aria-hidden="true">
      {getInitials(displayName)}
    </span>
  );
}

const INITIALS_MAX = 2;

/** Returns up to two letters: `GS` for `Google Sheets`, `HS` for `HubSpot`, `Ai` for `Airtable`. */
function getInitials(displayName: string): string {
  const words = displayName.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const [first = displayName] = words;
  if (words.length < INITIALS_MAX) return first.charAt(0).toUpperCase() + first.slice(1, 2);
  return words
    .slice(0, INITIALS_MAX)
    .map((word) => word.charAt(0).toUpperCase())
    .join('');
}
