/** Returns an integration's display name. Its name in the API is shown only as an identifier. */
import { graphql } from 'react-relay';

/** The fields from which `getIntegrationName` takes the name. */
graphql`
  fragment integrationName_integration on Integration {
    name
    latestRevision {
      content {
        displayName
      }
    }
  }
`;

export interface NamedIntegration {
  readonly name: string;
  readonly latestRevision: {
    readonly content: { readonly displayName: string | null | undefined };
  };
}

export function getIntegrationName({ name, latestRevision }: NamedIntegration): string {
  return latestRevision.content.displayName ?? name;
}
