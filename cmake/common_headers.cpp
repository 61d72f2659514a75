// Empty: the target that it belongs to owns the precompiled header of all libraries.
