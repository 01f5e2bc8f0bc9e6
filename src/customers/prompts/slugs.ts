import type { Database } from '../../platform/db/open.ts'

/** The most characters without the number at the end. Repeated copies must not grow without limit. */
const LENGTH_MAX = 100
const COPY_SUFFIX = '-copia'
/** The slug of a name without any ASCII letter or digit. */
const FALLBACK = 'prompt'

/** Returns the name in lower case without accents, its words joined by hyphens. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return cut(words.replace(/^-/, ''), LENGTH_MAX) || FALLBACK
}

export function copySlugOf(slug: string): string {
  return cut(slug, LENGTH_MAX - COPY_SUFFIX.length) + COPY_SUFFIX
}

/** Returns `base`, or the first of `base-2`, `base-3`, … that no prompt of the customer has now. */
export async function findFreeSlug(
  db: Database,
  customerId: string,
  base: string,
): Promise<string> {
  const rows = await db
    .selectFrom('prompts')
    .select('slug')
    .where('customer_id', '=', customerId)
    .where('slug', 'like', `${base}%`)
    .execute()
  const taken = new Set(rows.map(({ slug }) => slug))
  let slug = base
  for (let number = 2; taken.has(slug); number++) slug = `${base}-${number}`
  return slug
}

function cut(slug: string, lengthMax: number): string {
  return slug.slice(0, lengthMax).replace(/-$/, '')
}
