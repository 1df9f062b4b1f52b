/** Shows the difference between two revisions, or one revision alone. */
import { graphql, useFragment } from 'react-relay';
import { useSearchParams } from 'wouter';
import type { content_revision$key } from '../../__generated__/content_revision.graphql.ts';
import type { revisions_integration$key } from '../../__generated__/revisions_integration.graphql.ts';
import { ContractDifference } from '../contract/contract-difference.tsx';
import { Choice } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import { TextDifference } from '../parts/text-difference.tsx';
import { CONTENT, formatContent } from './content.ts';

const REVISIONS = graphql`
  fragment revisions_integration on Integration {
    revisions(first: 50) {
      totalCount
      nodes {
        id
        createTime
        ...content_revision
      }
    }
  }
`;

const timeFormat = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const NO_REVISION = 'none';

export function Revisions({ integration }: { integration: revisions_integration$key }) {
  const { nodes, totalCount } = useFragment(REVISIONS, integration).revisions;
  const [params, setParams] = useSearchParams();
  const options = nodes.map(({ id, createTime }, index) => ({
    id,
    label: `Revision ${totalCount - index} · ${timeFormat.format(new Date(createTime))}`,
  }));
  const findRevision = (id: string | null) => nodes.find((node) => node.id === id);
  const to = findRevision(params.get('to')) ?? nodes[0];
  const from =
    params.get('from') === NO_REVISION ? undefined : (findRevision(params.get('from')) ?? nodes[1]);
  const choose = (name: string) => (id: string) => {
    const newParams = new URLSearchParams(params);
    newParams.set(name, id);
    setParams(newParams, { replace: true });
  };
  if (!to) return null;
  return (
    <>
      <div className="filters stacked">
        <Choice
          label="From"
          options={[{ id: NO_REVISION, label: 'None' }, ...options]}
          value={from?.id ?? NO_REVISION}
          onChange={choose('from')}
        />
        <Choice label="To" options={options} value={to.id} onChange={choose('to')} />
      </div>
      {from ? (
        <>
          <Loaded resetKey={`${from.id} ${to.id}`}>
            <ContractDifference from={from.id} to={to.id} />
          </Loaded>
          <ContentDifference from={from} to={to} />
        </>
      ) : (
        <RevisionContent revision={to} />
      )}
    </>
  );
}

function useText(revision: content_revision$key): string {
  return formatContent(useFragment(CONTENT, revision).content);
}

function RevisionContent({ revision }: { revision: content_revision$key }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="diff" tabIndex={0} aria-label="Content">
      <pre>{useText(revision)}</pre>
    </section>
  );
}

function ContentDifference({ from, to }: { from: content_revision$key; to: content_revision$key }) {
  return <TextDifference from={useText(from)} to={useText(to)} />;
}
