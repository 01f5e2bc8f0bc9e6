import type { ComponentProps } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import type { Mask } from '../../format/masks.ts'
import type { PersonFault, PersonField } from './person-fields.ts'
import type { Profile } from './profile-queries.ts'

/** Props that every field of the form gets. */
export interface PersonValues {
  readonly profile: Profile | null
  readonly fault: PersonFault | undefined
}

interface PersonTextProps
  extends PersonValues, Omit<ComponentProps<'input'>, 'name' | 'value' | 'defaultValue'> {
  readonly name: PersonField
  readonly label: string
  readonly mask?: Mask
  readonly hint?: string
  /** Shown when the profile has no value. */
  readonly fallback?: string | undefined
}

/** A text field of the form. */
export function PersonText({
  profile,
  fault,
  name,
  label,
  mask,
  hint,
  fallback = '',
  className,
  ...rest
}: PersonTextProps) {
  return (
    <Field
      label={label}
      hint={hint}
      error={fault?.[0] === name ? fault[1] : undefined}
      {...(className === undefined ? {} : { className })}
    >
      {(control) => {
        const shared = { ...rest, ...control, name, defaultValue: profile?.[name] ?? fallback }
        return mask ? <MaskedInput {...shared} mask={mask} /> : <Input {...shared} />
      }}
    </Field>
  )
}
