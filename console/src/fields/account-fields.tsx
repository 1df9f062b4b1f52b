/** An object in an installation's account, as its provider describes it. */
import type { ReactNode } from 'react';
import { graphql } from 'react-relay';
import type { accountFieldsQuery } from '../../__generated__/accountFieldsQuery.graphql.ts';
import { usePageQuery } from '../parts/queries.ts';
import { type AccountObject, UNDESCRIBED } from './object-fields.tsx';

const QUERY = graphql`
  query accountFieldsQuery($id: ID!, $objectName: String!) {
    node(id: $id) {
      ... on Installation {
        objectMetadata(objectName: $objectName) {
          displayName
          fields {
            fieldName
            displayName
          }
        }
      }
    }
  }
`;

interface AccountFieldsProps {
  installationId: string;
  objectName: string;
  children: (accountObject: AccountObject) => ReactNode;
}

export function AccountFields({ installationId, objectName, children }: AccountFieldsProps) {
  const { node } = usePageQuery<accountFieldsQuery>(
    QUERY,
    { id: installationId, objectName },
    { needsAll: true },
  );
  return children(node?.objectMetadata ?? UNDESCRIBED);
}
