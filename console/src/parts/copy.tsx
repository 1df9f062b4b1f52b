/** Values to copy: IDs, URLs and keys. */
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { Link } from 'wouter';

const COPIED_MS = 2_000;

interface CopyButtonProps {
  value: string;
  /** The name of the value, for screen readers. */
  label: string;
}

export function CopyButton({ value, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <Button
      className="copy"
      aria-label={isCopied ? `${label} copied` : `Copy ${label}`}
      onPress={copy}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isCopied ? (
          <path d="M3 8.5l3.5 3.5L13 4.5" />
        ) : (
          <path d="M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2" />
        )}
      </svg>
    </Button>
  );
}

/** Shows a value in a fixed-width font, with a copy button. */
export function Copyable({ value, label }: CopyButtonProps) {
  return (
    <span className="copyable">
      <code>{value}</code>
      <CopyButton value={value} label={label} />
    </span>
  );
}

interface CopyableLinkProps extends CopyButtonProps {
  href: string;
  /** The name of the object. Default: the ID. */
  text?: string;
}

/** A link to the page of another object, with a button that copies the object's ID. */
export function CopyableLink({ href, text, value, label }: CopyableLinkProps) {
  return (
    <span className="copyable">
      <Link href={href}>{text ?? <code>{value}</code>}</Link>
      <CopyButton value={value} label={label} />
    </span>
  );
}
