/** A neutral mark of a provider: the initials of its name, because logos are trademarks of their owners. */
const INITIALS_MAX = 2;

export function ProviderMark({ name }: { name: string }) {
  return (
    <span className="mark" aria-hidden="true">
      {getInitials(name)}
    </span>
  );
}

/** `Google Sheets` as `GS`, `HubSpot` as `HS`, `sandbox` as `Sa` */
function getInitials(name: string): string {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const [first = name] = words;
  if (words.length < INITIALS_MAX) return first.charAt(0).toUpperCase() + first.slice(1, 2);
  return words
    .slice(0, INITIALS_MAX)
    .map((word) => word.charAt(0).toUpperCase())
    .join('');
}

/** A provider's name after its mark. */
export function ProviderName({ name }: { name: string }) {
  return (
    <span className="provider">
      <ProviderMark name={name} />
      {name}
    </span>
  );
}
