/** Schemas are compiled in tests as they are in the program. */
import "effect/schema/SchemaJITCompiler/enable"
