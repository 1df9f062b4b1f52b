/** Shows code with a copy button. */
import { CopyButton } from './copy.tsx';

interface SnippetProps {
  title: string;
  text: string;
}

export function Snippet({ title, text }: SnippetProps) {
  return (
    <>
      <div className="snippet-head">
        <h3>{title}</h3>
        <CopyButton value={text} label={`code: ${title}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section className="json" tabIndex={0} aria-label={title}>
        <pre>{text}</pre>
      </section>
    </>
  );
}
