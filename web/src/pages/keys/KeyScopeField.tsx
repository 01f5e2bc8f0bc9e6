import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '../../api/session.ts'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import type { ApiKey } from './key-queries.ts'
import { KEY_SCOPE, isKeyScope } from './key-words.ts'
import { t } from '../../language/t.ts'

/** A new key is for calls only unless somebody asks for more. */
export function KeyScopeField({ apiKey }: { readonly apiKey: ApiKey | undefined }) {
  const [scope, setScope] = useState(apiKey?.scope ?? 'calls')
  const session = useQuery(sessionQuery)
  // No key becomes one of an operator later.
  const mayOperate = !apiKey && session.data?.is_admin === true
  return (
    <Field label={t('O que a chave pode fazer')} hint={KEY_SCOPE()[scope].hint}>
      {(control) => (
        <Select
          {...control}
          name="scope"
          value={scope}
          onChange={({ target: { value } }) => isKeyScope(value) && setScope(value)}
        >
          {Object.entries(KEY_SCOPE())
            .filter(([value]) => value !== 'operator' || mayOperate)
            .map(([value, { text }]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
        </Select>
      )}
    </Field>
  )
}
